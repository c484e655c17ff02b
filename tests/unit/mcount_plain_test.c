/* SPDX-License-Identifier: MIT */
/* Patching plain functions that were made here: what is written and mapped, what is left. */
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/mman.h>

#include "arch/plain.h"
#include "libmcount/channel.h"
#include "libmcount/patch_near.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "libmcount/state.h"
#include "utils/proto/patch.h"
#include "utils/proto/plain.h"
#include "utils/record/sections.h"

#define PAGE 4096
#define BASE_PAGES 1		/* the section's base in the module */
#define TEXT_BYTES (4 * PAGE)
#define NEAR_BYTES (16 * PAGE)
#define HOOK_AT (TEXT_BYTES - 64)
#define FIELD 0, 0, 0, 0

extern const struct ftr_probe ftr_probe_plain;

static uint8_t *text;		/* TEXT_BYTES, and memory for code behind it */
static uint8_t expected[TEXT_BYTES];
static uint32_t near_used;
static char said[512];

uint64_t ftr_channel_send(enum ftr_channel_type type, const char *words, const char *more)
{
	assert_int_equal(type, FTR_CHANNEL_WARN);
	strcat(said, words);
	strcat(said, "\n");
	return 0;
}

bool ftr_patch_near(struct ftr_patch_near *near, uintptr_t low, uintptr_t high,
		    struct ftr_patch_targets *targets)
{
	targets->plain = (uintptr_t)text + HOOK_AT;
	return low <= high;
}

bool ftr_patch_is_in_reach(uintptr_t target, uintptr_t low, uintptr_t high)
{
	return target >= low && target <= high;
}

uintptr_t ftr_patch_near_reserve(uintptr_t low, uintptr_t high, unsigned long bytes)
{
	uintptr_t place = (uintptr_t)text + TEXT_BYTES + near_used;

	near_used += (uint32_t)bytes;
	return near_used <= NEAR_BYTES ? place : 0;
}

/*
 * Two functions that give a number and end: one of five bytes with room for the jump, and one whose
 * short jump leads to the jump behind it.  Their heads call the hook, which returns.
 */
static const uint8_t jump_func[] = { 0xb8, 7, 0, 0, 0, 0xc3 };		/* mov $7, %eax; ret */
static const uint8_t step_func[] = { 0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90 };
static const uint8_t code[] = {
	FIELD, 0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, FIELD, 0xb8, 8, 0, 0, 0, 0xe9, FIELD,
	FIELD, 0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, FIELD, 0xb8, 9, 0, 0, 0, 0xc3,
};
#define JUMP_AT 64u
#define STEP_AT 128u
#define SECOND 24u
static const uint32_t fixes[] = {
	0 << FTR_PLAIN_FIX_BITS | FTR_PLAIN_RELATIVE, 10 << FTR_PLAIN_FIX_BITS | FTR_PLAIN_HOOK,
	20 << FTR_PLAIN_FIX_BITS | FTR_PLAIN_RELATIVE,
	SECOND << FTR_PLAIN_FIX_BITS | FTR_PLAIN_RELATIVE,
	(SECOND + 10) << FTR_PLAIN_FIX_BITS | FTR_PLAIN_HOOK,
};
static const struct ftr_plain_write writes[] = {
	{ JUMP_AT, 4, FTR_PLAIN_JUMP, 5, 0, { 0xb8, 7, 0, 0, 0 } },
	{ STEP_AT + 3, SECOND + 4, FTR_PLAIN_JUMP, 5, 0, { 0x90, 0x90, 0x90, 0x90, 0x90 } },
	{ STEP_AT, 0, FTR_PLAIN_STEP, 2, 1, { 0x31, 0xc0 } },
};

/* The section, with what a test changes in it. */
static struct body {
	struct ftr_plain_table table;
	struct ftr_plain_write writes[3];
	uint32_t fixes[5];
	uint8_t code[sizeof(code)];
} body;

static int body_setup(void **state)
{
	uint32_t back = JUMP_AT + 5 - 24;	/* from the end of the field at 20 */

	said[0] = '\0';
	near_used = 0;
	memset(expected, 0xcc, sizeof(expected));
	expected[HOOK_AT] = 0xc3;
	memcpy(expected + JUMP_AT, jump_func, sizeof(jump_func));
	memcpy(expected + STEP_AT, step_func, sizeof(step_func));
	text = mmap(NULL, TEXT_BYTES + NEAR_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(text, MAP_FAILED);
	body.table = (struct ftr_plain_table){ BASE_PAGES * PAGE, TEXT_BYTES, 3, 5, sizeof(code),
					       0, 2 };
	memcpy(body.writes, writes, sizeof(writes));
	memcpy(body.fixes, fixes, sizeof(fixes));
	memcpy(body.code, code, sizeof(code));
	memcpy(body.code + 20, &back, sizeof(back));
	return 0;
}

static int body_teardown(void **state)
{
	return munmap(text, TEXT_BYTES + NEAR_BYTES);
}

static void text_close(void)
{
	memcpy(text, expected, TEXT_BYTES);
	assert_int_equal(mprotect(text, TEXT_BYTES, PROT_READ | PROT_EXEC), 0);
}

static void show(uint32_t slot, size_t skipped)
{
	struct ftr_loaded module = {
		.base = (uintptr_t)text - BASE_PAGES * PAGE,
		.name = "/lib/libcode.so",
		.text = (uintptr_t)text,
		.text_end = (uintptr_t)text + TEXT_BYTES,
		.is_lasting = true,
		.slot = slot,
	};
	struct ftr_sections_part part = { FTR_SECTION_PLAIN, &body, sizeof(body) - skipped };
	const struct ftr_sections *sections;

	sections = ftr_sections_map(ftr_sections_memfd(&part, 1, 0));
	assert_non_null(sections);
	ftr_probe_plain.module(&module, sections);
	ftr_sections_unmap(sections);
}

static uint32_t call(uint32_t at)
{
	uint32_t (*func)(void) = (uint32_t (*)(void))(uintptr_t)(text + at);

	return func();
}

static void test_all_are_patched(void **state)
{
	uint32_t used;

	text_close();
	assert_int_equal(call(JUMP_AT), 7);
	assert_int_equal(call(STEP_AT), 0);
	show(1, 0);
	assert_int_equal(text[JUMP_AT], 0xe9);
	assert_int_equal(text[STEP_AT], 0xeb);
	assert_int_equal(text[STEP_AT + 2], 0xc3);	/* as it was */
	assert_int_equal(call(JUMP_AT), 8);
	assert_int_equal(call(STEP_AT), 9);
	memcpy(expected, text, TEXT_BYTES);
	used = near_used;
	show(1, 0);				/* shown again: there is no more to do */
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_int_equal(near_used, used);
	assert_string_equal(said, "");
}

static void test_code_of_an_unloaded_library_is_replaced(void **state)
{
	text_close();
	show(2, 0);
	assert_int_equal(call(JUMP_AT), 8);
	assert_int_equal(mprotect(text, TEXT_BYTES, PROT_READ | PROT_WRITE), 0);
	text_close();				/* another one, at the same place */
	body.code[15] = 88;
	show(2, 0);
	assert_int_equal(call(JUMP_AT), 88);
	assert_int_equal(near_used, PAGE);
}

static void test_other_code_is_left(void **state)
{
	expected[STEP_AT + 5] = 0x50;		/* where the step would lead to */
	text_close();
	show(3, 0);
	assert_int_equal(call(JUMP_AT), 8);
	assert_int_equal(call(STEP_AT), 0);
	assert_int_equal(text[STEP_AT], 0x31);
	assert_string_equal(said, "2 functions of libcode.so cannot be patched: their code is not "
			    "what the file has\n");
}

static void test_no_place(void **state)
{
	text_close();
	near_used = NEAR_BYTES;
	show(4, 0);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "2 functions of libcode.so cannot be patched: no free memory "
			    "within 2 GB of them\n");
}

static void expect_nothing(uint32_t slot, size_t skipped)
{
	show(slot, skipped);
	assert_memory_equal(text, expected, TEXT_BYTES);
	body_teardown(NULL);
	body_setup(NULL);
	text_close();
}

static void test_damaged_sections(void **state)
{
	text_close();
	expect_nothing(5, 8);
	expect_nothing(5, sizeof(body) - 8);
	body.table.write_nr = UINT32_MAX;
	expect_nothing(5, 0);
	body.table.fix_nr = UINT32_MAX;
	expect_nothing(5, 0);
	body.table.code_bytes = UINT32_MAX;
	expect_nothing(5, 0);
	body.table.jump_nr = 4;
	expect_nothing(5, 0);
	body.writes[0].offset = TEXT_BYTES - 1;
	expect_nothing(5, 0);
	body.writes[2].offset = UINT32_MAX;
	expect_nothing(5, 0);
	body.fixes[1] = (sizeof(code) - 3) << FTR_PLAIN_FIX_BITS;
	expect_nothing(5, 0);
	assert_int_equal(call(JUMP_AT), 7);
}

static void test_damaged_writes(void **state)
{
	text_close();
	body.writes[0].target = sizeof(code);
	body.writes[1].bytes = 9;
	body.writes[2].step = 0x40;
	show(6, 0);
	assert_memory_equal(text, expected, TEXT_BYTES);
}

static void planned_write(const struct ftr_code_plan *plan)
{
	assert_int_equal(mprotect(text, TEXT_BYTES, PROT_READ | PROT_WRITE), 0);
	for (uint32_t i = 0; i < plan->nr; i++)
		memcpy((void *)plan->v[i].addr, plan->v[i].new, plan->v[i].bytes);
	assert_int_equal(mprotect(text, TEXT_BYTES, PROT_READ | PROT_EXEC), 0);
}

/* Attached to: nothing is written, but planned, and only as long as it may be. */
static void test_what_runs_is_planned(void **state)
{
	struct ftr_code_plan *plan = &ftr_state.code_plan;

	text_close();
	ftr_state.attached = FTR_ATTACH_ATTACHED;
	plan->is_open = true;
	show(7, 0);
	assert_memory_equal(text, expected, TEXT_BYTES);
	assert_string_equal(said, "");
	assert_int_equal(plan->nr, 3);
	assert_int_equal(plan->v[0].addr, (uintptr_t)text + JUMP_AT);
	assert_int_equal(plan->v[0].needs, FTR_CODE_NONE);
	assert_memory_equal(plan->v[0].old, jump_func, 5);
	assert_int_equal(plan->v[0].new[0], 0xe9);
	assert_int_equal(plan->v[1].addr, (uintptr_t)text + STEP_AT + 3);
	assert_int_equal(plan->v[2].addr, (uintptr_t)text + STEP_AT);
	assert_int_equal(plan->v[2].bytes, 2);
	assert_int_equal(plan->v[2].needs, 1);
	planned_write(plan);
	show(7, 0);		/* as when the program has opened another library */
	assert_int_equal(plan->nr, 3);
	assert_string_equal(said, "");
	plan->is_open = false;
	show(8, 0);
	assert_int_equal(plan->nr, 3);
	assert_string_equal(said, "2 functions of libcode.so cannot be patched: ftr is about to "
			    "leave the program\n");
	ftr_code_plan_free(plan);
	assert_null(plan->v);
	ftr_state.attached = 0;
}

/* A step to a jump that is not going to be there is not planned. */
static void test_step_without_its_jump(void **state)
{
	struct ftr_code_plan *plan = &ftr_state.code_plan;

	expected[STEP_AT + 5] = 0x50;
	text_close();
	ftr_state.attached = FTR_ATTACH_ATTACHED;
	plan->is_open = true;
	show(9, 0);
	assert_int_equal(plan->nr, 1);
	assert_string_equal(said, "2 functions of libcode.so cannot be patched: their code is not "
			    "what the file has\n");
	ftr_code_plan_free(plan);
	ftr_state.attached = 0;
}

static void test_plan_grows(void **state)
{
	static const uint8_t bytes[FTR_ATTACH_CODE_MAX + 1];
	struct ftr_code_plan plan = { .v = NULL };
	struct ftr_code_change change = { .bytes = 5, .old = bytes, .new = bytes };
	const struct ftr_attach_code *told = NULL;
	uint32_t i;

	for (i = 0; i < 10000; i++) {
		change.addr = 16 * i;
		assert_true(ftr_code_plan_add(&plan, &change));
		if (i == 99)
			told = plan.v;
	}
	assert_ptr_not_equal(told, plan.v);
	assert_int_equal(told[99].addr, 16 * 99);	/* who was told of it may still read it */
	ftr_code_plan_forget(&plan, 16 * 5000, 32);
	for (i = 0; i < 10000; i++)
		assert_int_equal(plan.v[i].is_gone, i == 5000 || i == 5001);
	assert_int_equal(ftr_code_plan_find(&plan, 0, plan.nr, 16 * 9999), 9999);
	assert_int_equal(ftr_code_plan_find(&plan, 0, plan.nr, 0), 0);
	assert_int_equal(ftr_code_plan_find(&plan, 1, plan.nr, 0), FTR_CODE_NONE);
	assert_int_equal(ftr_code_plan_find(&plan, 0, plan.nr, 17), FTR_CODE_NONE);
	change.bytes = sizeof(bytes);
	assert_false(ftr_code_plan_add(&plan, &change));
	assert_int_equal(plan.nr, 10000);
	ftr_code_plan_free(&plan);
}

/* What is made stays; what is not is planned anew, also for who reads what was outgrown. */
static void test_plan_is_renewed(void **state)
{
	static const uint8_t before[4] = { 1, 2, 3, 4 }, after[4] = { 5, 6, 7, 8 };
	uint8_t texts[4][4];
	struct ftr_code_plan plan = { .v = NULL };
	struct ftr_code_change change = { .bytes = 4, .old = before, .new = after,
					  .needs = FTR_CODE_NONE };
	const struct ftr_attach_code *told;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		memcpy(texts[i], i == 1 ? after : before, sizeof(texts[i]));
		change.addr = (uintptr_t)texts[i];
		assert_true(ftr_code_plan_add(&plan, &change));
	}
	told = plan.v;
	while (plan.v == told)
		assert_true(ftr_code_plan_add(&plan, &change));
	ftr_code_plan_renew(&plan, (uintptr_t)texts[0], (uintptr_t)texts[3]);
	for (i = 0; i < 4; i++) {
		assert_int_equal(plan.v[i].is_gone, i == 0 || i == 2);
		assert_int_equal(told[i].is_gone, i == 0 || i == 2);
	}
	ftr_code_plan_free(&plan);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, body_setup, body_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_are_patched), TEST(test_code_of_an_unloaded_library_is_replaced),
		TEST(test_other_code_is_left), TEST(test_no_place), TEST(test_damaged_sections),
		TEST(test_damaged_writes), TEST(test_what_runs_is_planned),
		TEST(test_step_without_its_jump), TEST(test_plan_grows), TEST(test_plan_is_renewed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
