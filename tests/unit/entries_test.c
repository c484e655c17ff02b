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

#ifdef __x86_64__
#define FUNCTION(name, ...) \
	__asm__(".pushsection .text.cases, \"ax\", @progbits\n" \
		".balign 16, 0xcc\n" \
		".type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n.popsection\n")

/* Nothing is padding here: on both sides of what is short lies other code. */
#define CROWDED(name, ...) \
	__asm__(".pushsection .text.crowd, \"ax\", @progbits\n" \
		".type crowd_" #name ", @function\ncrowd_" #name ":\n.cfi_startproc\n" \
		".rept 60\nadd $0x11223344, %eax\n.endr\nret\n" \
		".cfi_endproc\n.size crowd_" #name ", . - crowd_" #name "\n" \
		".type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n" \
		".type after_" #name ", @function\nafter_" #name ":\n.cfi_startproc\n" \
		".rept 60\nadd $0x11223344, %eax\n.endr\nret\n" \
		".cfi_endproc\n.size after_" #name ", . - after_" #name "\n.popsection\n")

FUNCTION(case_usual, "push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\nleave\nret");
FUNCTION(case_landing, "endbr64\npush %rbp\nmov %rsp, %rbp\nsub $16, %rsp\nleave\nret");
FUNCTION(case_short, "ret");				/* goes on in its padding */
FUNCTION(case_loop, "sub $0x1000, %edi\njnz case_loop\nret");
FUNCTION(case_into, "xor %eax, %eax\n1: add %edi, %eax\nsub $1, %edi\njnz 1b\nret");
FUNCTION(case_special, "syscall\nmov $0x1000, %eax\nret");
FUNCTION(case_undecoded, ".byte 0x06, 0x06, 0x06, 0x06, 0x06, 0x06\nret");
FUNCTION(case_start, "endbr64\n.cfi_undefined %rip\nxor %ebp, %ebp\nmov %rdx, %r9\n"
	 "pop %rsi\nhlt");
FUNCTION(case_start_late, ".cfi_remember_state\n.cfi_escape 0x16, 0x0c, 0x02, 0x77, 0x00\n"
	 "push %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbx, 0\nmov $0x1000, %eax\n"
	 ".cfi_restore_state\n.cfi_undefined %rip\nhlt");
FUNCTION(case_part.cold, "mov $0x1000, %eax\nret");
CROWDED(case_no_room, "ret");
#endif

static const struct row {
	const char *name;
	enum ftr_entry_state state;
	unsigned landing;
} rows[] = {
	{ "case_usual", FTR_ENTRY_PATCHED, 0 },
	{ "case_landing", FTR_ENTRY_PATCHED, 4 },
	{ "case_short", FTR_ENTRY_PATCHED, 0 },
	{ "case_loop", FTR_ENTRY_LOOP, 0 },
	{ "case_into", FTR_ENTRY_PATCHED, 0 },		/* by a short jump */
	{ "case_special", FTR_ENTRY_SPECIAL, 0 },
	{ "case_undecoded", FTR_ENTRY_UNDECODED, 0 },
	{ "case_start", FTR_ENTRY_PART, 4 },		/* without a return address */
	{ "case_start_late", FTR_ENTRY_PART, 0 },
	{ "case_part.cold", FTR_ENTRY_PART, 0 },
	{ "case_no_room", FTR_ENTRY_SHORT, 0 },
};

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
	assert_int_equal(entries.body.writes.v[0].original[0], 0x55);
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
