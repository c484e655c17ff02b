/* SPDX-License-Identifier: MIT */
/* Sections: written by the recorder's maker, read by the runtime's reader, both as they ship. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "libmcount/module.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/record/sections.h"

#define KIND_UNKNOWN ((enum ftr_section_kind)4711)
#define REPLACEMENTS 3000u
#define READERS 3

/* The recorder, for ftr_sections_refresh: two switches that are equal, whichever is asked for. */
static struct {
	_Atomic uint32_t asked;
	int ret;
} recorder;

static const struct ftr_sections *made(const struct ftr_sections_part *parts, unsigned nr,
				       uint32_t generation)
{
	int fd = ftr_sections_memfd(parts, nr, generation);

	assert_true(fd >= 0);
	return ftr_sections_map(fd);
}

static const struct ftr_sections *made_switches(uint32_t value)
{
	const struct ftr_switch switches[] = { { "first", value }, { "second", value } };

	return made(&(struct ftr_sections_part){ FTR_SECTION_SWITCHES, switches,
						 sizeof(switches) }, 1, value);
}

int ftr_module_ask(const struct ftr_module_name *module, const struct ftr_sections **sections)
{
	atomic_fetch_add(&recorder.asked, 1);
	assert_true(module->is_known);
	assert_int_equal(module->path_bytes, 0);
	if (recorder.ret == 0)
		*sections = made_switches(atomic_load(&ftr_state.control->generation));
	return recorder.ret;
}

static _Atomic uint32_t updates, library_refreshes;
static bool last_all;

void ftr_probes_update(uintptr_t low, const struct ftr_sections *sections)
{
	atomic_fetch_add(&updates, 1);
	assert_int_equal(low, 0);
	assert_ptr_equal(sections, ftr_sections_image());
}

void ftr_modules_refresh(bool all)
{
	last_all = all;
	atomic_fetch_add(&library_refreshes, 1);
}

static void test_round_trip(void **state)
{
	const struct ftr_sections_part parts[] = {
		{ KIND_UNKNOWN, "who knows", 9 },
		{ FTR_SECTION_LIBCALLS, "calls", 5 },
		{ FTR_SECTION_SWITCHES, NULL, 0 },
		{ KIND_UNKNOWN, "twice", 5 },
	};
	const struct ftr_sections *sections = made(parts, 4, 7);
	uint32_t bytes = 0;

	assert_non_null(sections);
	assert_int_equal(sections->generation, 7);
	assert_int_equal(sections->section_nr, 3);
	assert_memory_equal(ftr_sections_find(sections, FTR_SECTION_LIBCALLS, &bytes), "calls", 5);
	assert_int_equal(bytes, 5);
	assert_null(ftr_sections_find(sections, FTR_SECTION_SWITCHES, &bytes));
	assert_int_equal(ftr_sections_switch(sections, "plt"), FTR_SWITCH_OFF);
	ftr_sections_unmap(sections);
}

static void test_is_sealed(void **state)
{
	int fd = ftr_sections_memfd(NULL, 0, 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_ptr_equal(mmap(NULL, 16, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	close(fd);
}

static void test_switches(void **state)
{
	static const struct ftr_switch switches[] = {
		{ "plt", FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES },
		{ { 't', 'w', 'e', 'l', 'v', 'e', 'l', 'e', 't', 't', 'e', 'r' }, 3 },
		{ "cut", FTR_SWITCH_ON },
	};
	const struct ftr_sections *sections =
		made(&(struct ftr_sections_part){ FTR_SECTION_SWITCHES, switches,
						  sizeof(switches) - 1 }, 1, 0);

	assert_int_equal(ftr_sections_switch(sections, "plt"), 3);
	assert_int_equal(ftr_sections_switch(sections, "pl"), 0);
	assert_int_equal(ftr_sections_switch(sections, "plta"), 0);
	assert_int_equal(ftr_sections_switch(sections, "twelveletter"), 3);
	assert_int_equal(ftr_sections_switch(sections, "twelveletters"), 0);
	assert_int_equal(ftr_sections_switch(sections, "cut"), 0);
	assert_int_equal(ftr_sections_switch(NULL, "plt"), 0);
	ftr_sections_unmap(sections);
}

/* A memfd that holds @bytes; what of it can be mapped. */
static const struct ftr_sections *map_bytes(const void *bytes, size_t len)
{
	int fd = memfd_create("damaged", 0);

	assert_int_equal(write(fd, bytes, len), len);
	return ftr_sections_map(fd);
}

struct small {
	struct ftr_sections head;
	struct ftr_section table[2];
	uint64_t body[2];
};

static const struct small sound = {
	{ FTR_SECTIONS_MAGIC, 2, sizeof(struct small), 0 },
	{ { 1, offsetof(struct small, body), 8, 0 },
	  { 9, offsetof(struct small, body) + 8, 8, 0 } },
	{ 0 }
};

static void test_bounds(void **state)
{
	struct small bad = sound;

	assert_non_null(map_bytes(&sound, sizeof(sound)));
	assert_null(map_bytes(&sound, sizeof(sound) - 1));
	assert_null(map_bytes(&sound, 15));
	assert_null(map_bytes(&sound, 0));
	bad.head.magic++;
	assert_null(map_bytes(&bad, sizeof(bad)));
	bad = sound;
	bad.head.section_nr = 4;	/* more than there is room for */
	assert_null(map_bytes(&bad, sizeof(bad)));
	bad.head.section_nr = UINT32_MAX;
	assert_null(map_bytes(&bad, sizeof(bad)));
	bad = sound;
	bad.table[1].bytes++;		/* one byte beyond the end, also of a kind not known */
	assert_null(map_bytes(&bad, sizeof(bad)));
	bad.table[1].bytes = UINT32_MAX - bad.table[1].offset + 1;
	assert_null(map_bytes(&bad, sizeof(bad)));
	bad = sound;
	bad.table[0].offset++;		/* not aligned */
	assert_null(map_bytes(&bad, sizeof(bad)));
}

/* Whatever stands there, a section that is found lies inside. */
static void test_random_damage(void **state)
{
	unsigned round;

	srandom(1);
	for (round = 0; round < 20000; round++) {
		struct small bad = sound;
		const struct ftr_sections *sections;
		uint32_t bytes = 0;
		const char *body;

		((uint8_t *)&bad)[random() % 48] = (uint8_t)random();
		((uint8_t *)&bad)[random() % 48] ^= (uint8_t)(1 << random() % 8);
		sections = map_bytes(&bad, sizeof(bad));
		if (sections == NULL)
			continue;
		body = ftr_sections_find(sections, FTR_SECTION_LIBCALLS, &bytes);
		if (body != NULL)
			assert_true(body >= (const char *)sections &&
				    body + bytes <= (const char *)sections + sizeof(bad));
		ftr_sections_unmap(sections);
	}
}

static struct ftr_control control;

static int start(void **state)
{
	memset(&ftr_state, 0, sizeof(ftr_state));
	memset(&control, 0, sizeof(control));
	ftr_state.control = &control;
	atomic_store(&recorder.asked, 0);
	updates = library_refreshes = 0;
	recorder.ret = 0;
	return 0;
}

static uint32_t image_switch(const char *probe)
{
	return ftr_sections_switch(ftr_sections_image(), probe);
}

static void test_refresh(void **state)
{
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 0);
	control.generation = 3;
	ftr_sections_refresh();
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 1);
	assert_int_equal(image_switch("second"), 3);
	recorder.ret = -EACCES;		/* what there is stays, and it is asked for once */
	control.generation = 4;
	ftr_sections_refresh();
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 2);
	assert_int_equal(image_switch("second"), 3);
	assert_int_equal(updates, 1);
	assert_int_equal(library_refreshes, 2);
}

/* All libraries are asked about where a probe is on in them, or was. */
static void test_refresh_in_libraries(void **state)
{
	static const struct { uint32_t flags; bool all; } steps[] = {
		{ FTR_SWITCH_ON, false }, { FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES, true },
		{ FTR_SWITCH_ON | 4, true }, { FTR_SWITCH_ON | 8, false },
	};
	size_t i;

	ftr_sections_publish(NULL);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		control.generation = steps[i].flags;	/* the switches have this value */
		ftr_sections_refresh();
		assert_int_equal(library_refreshes, i + 1);
		assert_int_equal(last_all, steps[i].all);
	}
}

static void test_refresh_claimed(void **state)
{
	control.generation = 1;
	ftr_state.refreshing_pid = (uint32_t)getpid();	/* by another thread */
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 0);
	ftr_state.refreshing_pid = (uint32_t)getppid();	/* by one of our parent when it forked */
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 1);
	assert_int_equal(ftr_state.refreshing_pid, 0);
}

static void test_refresh_forbidden(void **state)
{
	control.generation = 1;
	ftr_state.blocked = FTR_SECCOMP_BIT(FTR_SECCOMP_TRACING);
	ftr_sections_refresh();
	ftr_state.blocked = 0;
	control.stopped = 1;
	ftr_sections_refresh();
	assert_int_equal(recorder.asked, 0);
}

static _Atomic uint32_t torn;

/* Both switches of what one load of the pointer gives. */
static void read_once(void)
{
	const struct ftr_sections *sections = ftr_sections_image();

	if (ftr_sections_switch(sections, "first") != ftr_sections_switch(sections, "second"))
		atomic_fetch_add(&torn, 1);
}

static void on_alarm(int signo)
{
	ftr_sections_refresh();
	read_once();
}

static void *reader(void *arg)
{
	uint32_t last = 0, now;

	while (last < REPLACEMENTS) {
		ftr_sections_refresh();
		read_once();
		now = image_switch("first");
		if (now < last)		/* an older state came back */
			atomic_fetch_add(&torn, 1);
		last = now;
	}
	return NULL;
}

/* Threads, and handlers in the middle of their reads, while the tables are replaced. */
static void test_replaced_while_read(void **state)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART }, old;
	pthread_t threads[READERS];
	unsigned i;

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader, NULL), 0);
	for (i = 1; i <= REPLACEMENTS; i++) {
		atomic_store(&control.generation, i);
		if (i % 16 == 0)
			ftr_sections_refresh();
	}
	for (i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(torn, 0);
	assert_int_equal(image_switch("first"), REPLACEMENTS);
	assert_in_range(recorder.asked, 2, REPLACEMENTS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_is_sealed),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test_setup(test_refresh, start),
		cmocka_unit_test_setup(test_refresh_in_libraries, start),
		cmocka_unit_test_setup(test_refresh_claimed, start),
		cmocka_unit_test_setup(test_refresh_forbidden, start),
		cmocka_unit_test_setup(test_replaced_while_read, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
