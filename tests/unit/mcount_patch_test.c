/* SPDX-License-Identifier: MIT */
/* Patching code that was made here: what is written, what is left, and what is said about it. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/patch.h"
#include "libmcount/channel.h"
#include "libmcount/patch_near.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/proto/patch.h"
#include "utils/record/sections.h"

#define PAGE 4096
#define TEXT_PAGES 40
#define TEXT_BYTES (TEXT_PAGES * PAGE)
#define FUNC_BYTES 32
#define ENTRY_AT (TEXT_BYTES - 64)	/* what entries are to call, and prologues */
#define PROLOGUE_AT (TEXT_BYTES - 32)
#define ROOM_MAX 11

extern const struct ftr_probe ftr_probe_patch;

static uint8_t *text;			/* TEXT_BYTES, readable and executable */
static uint8_t expected[TEXT_BYTES];
static char said[512];
static bool has_near;

uint64_t ftr_channel_send(enum ftr_channel_type type, const char *words, const char *more)
{
	assert_int_equal(type, FTR_CHANNEL_WARN);
	assert_null(more);
	strcat(said, words);
	strcat(said, "\n");
	return 0;
}

bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets)
{
	assert_true(low <= high);
	targets->entry = (uintptr_t)text + ENTRY_AT;
	targets->prologue = (uintptr_t)text + PROLOGUE_AT;
	return has_near;
}

/* A function of @room bytes of no-operations that returns @value. */
static void func_make(uint32_t at, unsigned room, uint32_t value)
{
	/* A jump over an instruction of nine bytes, or that alone. */
	static const uint8_t sled[ROOM_MAX] = { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };
	uint8_t *code = expected + at;

	memset(code, 0x90, room);
	if (room > 5)
		memcpy(code, &sled[ROOM_MAX - room], room);
	code[room] = 0xb8;		/* mov $value, %eax */
	memcpy(code + room + 1, &value, sizeof(value));
	code[room + 5] = 0xc3;
}

static int text_setup(void **state)
{
	said[0] = '\0';
	has_near = true;
	memset(expected, 0xcc, sizeof(expected));
	expected[ENTRY_AT] = expected[PROLOGUE_AT] = 0xc3;
	text = mmap(NULL, TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return text == MAP_FAILED;
}

/* The functions are made: the code is there, and cannot be written. */
static void text_close(void)
{
	memcpy(text, expected, TEXT_BYTES);
	assert_int_equal(mprotect(text, TEXT_BYTES, PROT_READ | PROT_EXEC), 0);
}

static int text_teardown(void **state)
{
	return munmap(text, TEXT_BYTES);
}

static uint32_t call(uint32_t at)
{
	uint32_t (*func)(void) = (uint32_t (*)(void))(uintptr_t)(text + at);

	return func();
}

/* Show the probe a module with these sites; @skipped bytes of the section are cut off. */
static void show(struct ftr_loaded *module, const struct ftr_patch_site *sites, uint32_t nr,
		 uint32_t flags, size_t skipped)
{
	struct ftr_patch_table table = { .base = PAGE, .site_nr = nr, .flags = flags };
	static uint8_t body[sizeof(table) + 1024 * sizeof(*sites)];
	struct ftr_sections_part part = {
		FTR_SECTION_PATCH, body, sizeof(table) + nr * sizeof(*sites) - skipped,
	};
	const struct ftr_sections *sections;

	assert_true(nr <= 1024);
	memcpy(body, &table, sizeof(table));
	memcpy(body + sizeof(table), sites, nr * sizeof(*sites));
	sections = ftr_sections_map(ftr_sections_memfd(&part, 1, 0));
	assert_non_null(sections);
	ftr_probe_patch.module(module, sections);
	ftr_sections_unmap(sections);
}

/* Loaded a page below its text. */
static struct ftr_loaded program(void)
{
	return (struct ftr_loaded){
		.base = (uintptr_t)text - PAGE,
		.name = "/somewhere/libcode.so",
		.text = (uintptr_t)text,
		.text_end = (uintptr_t)text + TEXT_BYTES,
		.is_lasting = true,
	};
}

static void expect_call(const struct ftr_patch_site *site)
{
	ftr_arch_patch_write(expected + site->offset, site->bytes,
			     (uintptr_t)text + site->offset,
			     (uintptr_t)text + (site->kind == FTR_PATCH_PROLOGUE ? PROLOGUE_AT :
										   ENTRY_AT));
}

/* Every byte but those of sites is what it was; across pages, and with holes between sites. */
static void test_all_are_patched(void **state)
{
	struct ftr_patch_site sites[1024];
	struct ftr_loaded module = program();
	uint32_t at, nr = 0, i;

	for (at = 7; at < TEXT_BYTES - 256; at += nr % 50 == 49 ? 3 * PAGE - 3 : FUNC_BYTES + 1) {
		unsigned room = nr % 3 == 0 ? 5 : nr % 3 == 1 ? 9 : ROOM_MAX;

		func_make(at, room, nr);
		sites[nr] = (struct ftr_patch_site){
			at, (uint8_t)room, nr % 5 == 0 ? FTR_PATCH_PROLOGUE : FTR_PATCH_ENTRY, 0,
		};
		nr++;
	}
	text_close();
	show(&module, sites, nr, 0, 0);
	for (i = 0; i < nr; i++)
		expect_call(&sites[i]);
	assert_memory_equal(text, expected, TEXT_BYTES);
	for (i = 0; i < nr; i++)
		assert_int_equal(call(sites[i].offset), i);
	show(&module, sites, nr, 0, 0);		/* once is enough */
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "");
}

static void test_other_code_is_left(void **state)
{
	static const struct ftr_patch_site sites[] = {
		{ 0, 5, FTR_PATCH_ENTRY, 0 }, { 64, 5, FTR_PATCH_ENTRY, 0 },
		{ 128, 5, FTR_PATCH_ENTRY, 0 }, { 192, 200, FTR_PATCH_ENTRY, 0 },
	};
	struct ftr_loaded module = program();

	func_make(0, 5, 1);
	func_make(64, 5, 2);
	expected[66] = 0x55;			/* something else than in the file */
	func_make(128, 5, 3);
	text_close();
	show(&module, sites, 4, 0, 0);
	expect_call(&sites[0]);
	expect_call(&sites[2]);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "2 functions of libcode.so cannot be patched: their code is not "
			    "what the file has\n");
}

static void test_damaged_sections(void **state)
{
	struct ftr_patch_site sites[] = { { 0, 5, FTR_PATCH_ENTRY, 0 },
					  { 64, 5, FTR_PATCH_ENTRY, 0 } };
	struct ftr_loaded module = program();

	func_make(0, 5, 1);
	func_make(64, 5, 1);
	text_close();
	show(&module, sites, 2, 0, 1);
	show(&module, sites, 0, 0, 0);
	sites[1].offset = TEXT_BYTES;		/* another module's */
	show(&module, sites, 2, 0, 0);
	sites[0].offset = TEXT_BYTES + PAGE;
	show(&module, sites, 2, 0, 0);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "");
}

static void *sleep_until_read(void *arg)
{
	char c;

	return read(*(int *)arg, &c, 1) < 0 ? arg : NULL;
}

/* With another thread, only what cannot have run yet. */
static void test_what_may_be_running(void **state)
{
	static const struct ftr_patch_site sites[] = { { 0, 5, FTR_PATCH_ENTRY, 0 } };
	struct ftr_loaded module = program();
	bool was_running = false;
	pthread_t thread;
	int fds[2];

	func_make(0, 5, 1);
	text_close();
	module.is_lasting = false;
	module.was_running = &was_running;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_until_read, &fds[0]), 0);
	show(&module, sites, 1, FTR_PATCH_STARTS_GMON, 0);	/* after its _init */
	assert_memory_equal(text, expected, TEXT_BYTES);
	module.is_before_init = true;
	show(&module, sites, 1, 0, 0);				/* that does not call us */
	show(&module, sites, 1, FTR_PATCH_STARTS_GMON, 0);	/* at another library's */
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_non_null(strstr(said, "1 function of libcode.so cannot be patched: other threads"));
	was_running = false;
	said[0] = '\0';
	show(&module, sites, 1, FTR_PATCH_STARTS_GMON, 0);
	expect_call(&sites[0]);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "");
	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
}

static void test_alone(void **state)
{
	static const struct ftr_patch_site sites[] = { { 0, 5, FTR_PATCH_ENTRY, 0 } };
	struct ftr_loaded module = program();
	bool was_running = true;

	func_make(0, 5, 1);
	text_close();
	module.is_lasting = false;
	module.was_running = &was_running;
	show(&module, sites, 1, 0, 0);
	expect_call(&sites[0]);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_false(was_running);
}

static void test_refusals(void **state)
{
	static const struct ftr_patch_site sites[] = { { 0, 5, FTR_PATCH_ENTRY, 0 } };
	struct ftr_loaded module = program();

	func_make(0, 5, 1);
	text_close();
	has_near = false;
	show(&module, sites, 1, 0, 0);
	assert_non_null(strstr(said, "no free memory within 2 GB"));
	said[0] = '\0';
	has_near = true;
	module.is_lasting = false;
	module.name = "";
	atomic_store(&ftr_state.is_filtered, true);
	show(&module, sites, 1, 0, 0);
	atomic_store(&ftr_state.is_filtered, false);
	assert_string_equal(said, "1 function cannot be patched: a seccomp filter was installed "
			    "before they were loaded\n");
	assert_memory_equal(text, expected, TEXT_BYTES);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, text_setup, text_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_are_patched), TEST(test_other_code_is_left),
		TEST(test_damaged_sections), TEST(test_what_may_be_running), TEST(test_alone),
		TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
