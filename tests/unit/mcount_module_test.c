/* SPDX-License-Identifier: MIT */
/* Sections of libraries: kept, found by address, and replaced; the test answers as the recorder. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/module.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/record/sections.h"

static struct ftr_control control;

static struct {
	bool has_sections;		/* of libraries */
	unsigned asked, reported;	/* about libraries: with FTR_CHANNEL_KNOWN or not */
	char path[256];			/* the last one's */
	unsigned updates;
	uintptr_t low;
} seen;

void ftr_frames_end(void)
{
}

void ftr_probes_update(uintptr_t low, const struct ftr_sections *sections)
{
	seen.updates += low != 0;
	seen.low = low;
}

bool ftr_channel_turn_take(void)
{
	return true;
}

void ftr_channel_turn_give(void)
{
}

int ftr_channel_ask(struct ftr_channel_message *message, const char *path, int *reply_fds)
{
	const struct ftr_switch on = { "probe", FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES };

	assert_int_equal(message->type & ~FTR_CHANNEL_FLAGS, FTR_CHANNEL_MODULE);
	assert_non_null(reply_fds);
	if (message->path_bytes != 0 && (message->type & FTR_CHANNEL_KNOWN) != 0)
		seen.asked++;
	else if (message->path_bytes != 0)
		seen.reported++;
	snprintf(seen.path, sizeof(seen.path), "%.*s", (int)message->path_bytes, path);
	if (message->path_bytes == 0 || seen.has_sections)
		reply_fds[0] = ftr_sections_memfd(&(struct ftr_sections_part){
			FTR_SECTION_SWITCHES, &on, sizeof(on) }, 1, control.generation);
	return 0;
}

static uintptr_t here(void)
{
	return (uintptr_t)&here;
}

static uintptr_t library(void)
{
	return (uintptr_t)dlsym(RTLD_DEFAULT, "elf_version");
}

static int start(void **state)
{
	memset(&ftr_state, 0, sizeof(ftr_state));
	memset(&ftr_self, 0, sizeof(ftr_self));
	memset(&control, 0, sizeof(control));
	memset(&seen, 0, sizeof(seen));
	seen.has_sections = true;
	ftr_state.control = &control;
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	return 0;
}

/* Noticed at its first call: what comes back stays, and is the same when it is noticed again. */
static void test_first_call(void **state)
{
	const struct ftr_sections *sections;

	ftr_module_start();
	ftr_state.known_nr = 1;			/* the library comes later */
	ftr_module_check(&ftr_self, library());
	assert_int_equal(seen.reported, 1);
	assert_true(ftr_module_is_known(&ftr_self, library()));
	sections = ftr_module_sections(library(), NULL);
	assert_non_null(sections);
	assert_int_equal(ftr_sections_switch(sections, "probe"), 3);
	assert_int_equal(seen.updates, 1);
	assert_int_equal(seen.low, ftr_self.module_low);
	ftr_state.known[1].inode++;		/* another library there, with the same sections */
	ftr_state.module_generation++;
	ftr_module_check(&ftr_self, library());
	assert_int_equal(seen.reported, 2);
	assert_int_equal(ftr_state.kept_nr, 1);
	seen.has_sections = false;		/* and one without */
	ftr_state.known[1].inode++;
	ftr_state.module_generation++;
	ftr_module_check(&ftr_self, library());
	assert_null(atomic_load(&ftr_state.known[1].sections));
	assert_int_equal(ftr_sections_switch(sections, "probe"), 3);	/* still mapped */
}

static const struct ftr_sections *fetched(uintptr_t low)
{
	const struct ftr_module_name module = { .base = low, .path = "x", .path_bytes = 1,
						.is_known = true };
	const struct ftr_sections *sections;

	assert_int_equal(ftr_module_ask(&module, &sections), 0);
	return sections;
}

/* The image has its own; libraries there since the start have what is published for them. */
static void test_published(void **state)
{
	const struct ftr_sections *image = fetched(1);

	ftr_module_start();
	assert_null(ftr_module_sections(here(), NULL));
	assert_null(ftr_module_sections(library(), NULL));
	assert_null(ftr_module_sections(1, NULL));
	ftr_sections_publish(image);
	assert_ptr_equal(ftr_module_sections(here(), NULL), image);
	assert_null(ftr_module_sections(library(), NULL));
	ftr_module_publish(library(), fetched(library()));
	assert_non_null(ftr_module_sections(library(), NULL));
	ftr_module_publish(1, fetched(1));	/* nothing known is there */
	assert_int_equal(ftr_state.kept_nr, 1);
	control.generation = 1;
	ftr_module_publish(library(), fetched(library()));
	control.generation = 0;			/* an answer that was overtaken */
	ftr_module_publish(library(), fetched(library()));
	assert_int_equal(ftr_module_sections(library(), NULL)->generation, 1);
}

/* The recorder has replaced something: every library with sections gets new ones. */
static void test_replaced(void **state)
{
	ftr_module_start();
	ftr_module_publish(library(), fetched(library()));
	seen.asked = seen.updates = 0;
	control.generation = 5;
	ftr_modules_refresh(false);
	assert_int_equal(seen.asked, 1);
	assert_non_null(strstr(seen.path, "libelf"));
	assert_int_equal(ftr_module_sections(library(), NULL)->generation, 5);
	assert_int_equal(seen.updates, 1);
	ftr_modules_refresh(false);		/* the same once more is no update */
	assert_int_equal(seen.updates, 1);
	seen.has_sections = false;
	ftr_modules_refresh(false);
	assert_null(ftr_module_sections(library(), NULL));
	seen.asked = 0;
	ftr_modules_refresh(false);
	assert_int_equal(seen.asked, 0);
	seen.has_sections = true;
	ftr_modules_refresh(true);
	assert_true(seen.asked > 1);
	assert_non_null(ftr_module_sections(library(), NULL));
}

/* A thread that goes to another module takes over what has been replaced. */
static void test_check_refreshes(void **state)
{
	ftr_module_start();
	control.generation = 2;
	ftr_module_check(&ftr_self, library());
	assert_int_equal(ftr_state.generation, 2);
	assert_int_equal(ftr_sections_image()->generation, 2);
	assert_int_equal(ftr_module_sections(library(), NULL)->generation, 2);
}

/* More than there is room for: they are not used, and what there is stays. */
static void test_no_room(void **state)
{
	ftr_module_start();
	ftr_state.kept_nr = FTR_KEPT_MAX;
	ftr_module_publish(library(), fetched(library()));
	assert_null(ftr_module_sections(library(), NULL));
	assert_int_equal(ftr_state.kept_nr, FTR_KEPT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_call, start),
		cmocka_unit_test_setup(test_published, start),
		cmocka_unit_test_setup(test_replaced, start),
		cmocka_unit_test_setup(test_check_refreshes, start),
		cmocka_unit_test_setup(test_no_room, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
