/* SPDX-License-Identifier: MIT */
/*
 * Which functions of a module are patched as they are, and why others are left: those of this
 * program itself, each made to be one case.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "utils/object/code_range.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"
#include "utils/patch/entries.h"
#include "utils/patch/move.h"

struct row {
	const char *name;
	enum ftr_entry_state state;
	unsigned landing;
};

#include CASES		/* of the machine: tests/unit/entries_x86_64.h and its like */

static const struct row rows[] = { CASE_ROWS };

struct self {
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
};

static int self_open(void **state)
{
	static struct self self;

	ftr_symtab_init(&self.symbols);
	*state = &self;
	return ftr_elf_file_open(&self.file, "/proc/self/exe", NULL) < 0 ||
	       ftr_symtab_load_elf(&self.symbols, "/proc/self/exe", NULL) < 0;
}

static int self_close(void **state)
{
	struct self *self = *state;

	ftr_symtab_fini(&self->symbols);
	ftr_elf_file_close(&self->file);
	return 0;
}

static bool all_are_wanted(void *arg, const struct ftr_function *function)
{
	return true;
}

static bool is_named(void *arg, const struct ftr_function *function)
{
	return function->symbol != NULL && strcmp(function->symbol->name, arg) == 0;
}

static size_t index_of(const struct ftr_entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->functions.all.nr; i++) {
		if (is_named((char *)name, &entries->functions.all.v[i]))
			return i;
	}
	fail_msg("%s is none of the functions", name);
	return 0;
}

static void test_states(void **state)
{
	struct self *self = *state;
	struct ftr_entries entries;

	assert_int_equal(ftr_entries_plan(&entries, &self->file, &self->symbols, all_are_wanted,
					  NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t at = index_of(&entries, rows[i].name);

		if (entries.states[at] != rows[i].state)
			fail_msg("%s: %d, not %d", rows[i].name, entries.states[at], rows[i].state);
		assert_int_equal(entries.functions.all.v[at].landing, rows[i].landing);
	}
	ftr_entries_fini(&entries);
}

/* Jumps come first, by offset, none over another; each patched function has one. */
static void test_writes(void **state)
{
	struct self *self = *state;
	struct ftr_entries entries;
	unsigned jumps = 0;

	assert_int_equal(ftr_entries_plan(&entries, &self->file, &self->symbols, all_are_wanted,
					  NULL), 0);
	for (size_t i = 0; i < entries.body.writes.nr; i++) {
		const struct ftr_plain_write *write = &entries.body.writes.v[i];

		jumps += write->kind == FTR_PLAIN_JUMP;
		assert_true(write->kind == FTR_PLAIN_STEP || write->target < entries.body.code.nr);
		if (i > 0 && write[-1].kind == write->kind)
			assert_true(write[-1].offset + write[-1].bytes <= write->offset);
		if (i > 0)
			assert_true(write[-1].kind <= write->kind);
	}
	assert_int_equal(jumps, entries.counts[FTR_ENTRY_PATCHED]);
	ftr_entries_fini(&entries);
}

/* One function alone: its jump stands behind its landing, and nothing else is written. */
static void test_chosen(void **state)
{
	struct self *self = *state;
	struct ftr_entries entries;
	const struct ftr_function *function;

	assert_int_equal(ftr_entries_plan(&entries, &self->file, &self->symbols, is_named,
					  "case_landing"), 0);
	function = &entries.functions.all.v[index_of(&entries, "case_landing")];
	assert_int_equal(entries.body.writes.nr, 1);
	assert_int_equal(entries.counts[FTR_ENTRY_PATCHED], 1);
	assert_int_equal(entries.body.writes.v[0].offset, function->addr + 4 - self->file.base);
	assert_int_equal(entries.body.writes.v[0].original[0], CASE_LANDING_BYTE);
	ftr_entries_fini(&entries);
}

/* Ranges come by address, one at each, and begin where the symbols of these functions do. */
static void test_ranges(void **state)
{
	struct self *self = *state;
	struct ftr_code_ranges ranges = { .ranges = { 0 } };
	unsigned found = 0;

	assert_int_equal(ftr_code_ranges_load(&ranges, &self->file), 0);
	for (size_t i = 0; i < ranges.ranges.nr; i++) {
		const struct ftr_code_range *range = &ranges.ranges.v[i];
		const struct ftr_symbol *symbol =
			ftr_symtab_find(&self->symbols, range->addr - self->file.base);

		assert_true(i == 0 || range[-1].addr < range->addr);
		if (symbol == NULL || strncmp(symbol->name, "case_", 5) != 0)
			continue;
		assert_int_equal(symbol->addr, range->addr - self->file.base);
		assert_int_equal(symbol->size, range->bytes);
		assert_int_equal(range->is_entry, strncmp(symbol->name, "case_start", 10) != 0);
		found++;
	}
	assert_int_equal(found, sizeof(rows) / sizeof(rows[0]));
	ftr_code_ranges_fini(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_ranges),
	};

	if (!ftr_move_is_possible())
		return 77;
	return cmocka_run_group_tests(tests, self_open, self_close);
}
