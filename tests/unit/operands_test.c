/* SPDX-License-Identifier: MIT */
/* The operands of events, as the assemblers of x86-64 and 64-bit Arm write them. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "utils/patch/operands.h"

#define NONE FTR_SDT_NO_REGISTER
#define ARG(where_, type_, base_, index_, ...) \
	{ .where = FTR_SDT_##where_, .type = FTR_SDT_##type_, .base = (base_), .index = (index_), \
	  ##__VA_ARGS__ }

static const struct row {
	const char *text;
	struct ftr_sdt_arg arg;
	bool is_address;
} rows[] = {
	{ "-4@%edi", ARG(REGISTER, S32, 7, NONE), false },
	{ "8@%r15", ARG(REGISTER, U64, 15, NONE), false },
	{ "2@%r9w", ARG(REGISTER, U16, 9, NONE), false },
	{ "-1@%sil", ARG(REGISTER, S8, 6, NONE), false },
	{ "1@%bh", ARG(REGISTER, U8, 3, NONE, .from_bit = 8), false },
	{ "8f@%xmm15", ARG(VECTOR, F64, 15, NONE), false },
	{ "4f@%xmm0", ARG(VECTOR, F32, 0, NONE), false },
	{ "-4@$-7", ARG(CONSTANT, S32, NONE, NONE, .low = -7, .high = -1), false },
	{ "8@$0x10", ARG(CONSTANT, U64, NONE, NONE, .low = 16), false },
	{ "8@(%rsp)", ARG(MEMORY, U64, 4, NONE), false },
	{ "-8@-16(%rbp)", ARG(MEMORY, S64, 5, NONE, .low = -16, .high = -1), false },
	{ "4@0x20(%rax,%r12,8)", ARG(MEMORY, U32, 0, 12, .scale = 3, .low = 32), false },
	{ "4@(,%rcx,4)", ARG(MEMORY, U32, NONE, 1, .scale = 2), false },
	{ "-8@count(%rip)", ARG(OWN, S64, NONE, NONE, .low = 0x4000, .high = 0x4000),
	  true },
	{ "8@8+count(%rip)", ARG(OWN, U64, NONE, NONE, .low = 0x4008, .high = 0x4008), true },
	{ "8@count+16(%rip)", ARG(OWN, U64, NONE, NONE, .low = 0x4010, .high = 0x4010), true },
	{ "8@$count", ARG(CONSTANT, U64, NONE, NONE, .low = 0x4000, .high = 0x4000), true },
};

/* What is no operand, or cannot be known: its place in the list is kept. */
static const char *const others[] = {
	"8@.LC0(%rip)", "4@%fs:0x28", "8@count@GOTPCREL(%rip)", "8@%st(0)", "16@%xmm1", "3@%eax",
	"8@", "@%eax", "%rax", "8@12", "8@(", "8@()", "8@(%eax)", "8@(%rax,%rbx,3)", "8f@$",
	"8@%xmm16", "4@count(%rax)", "8@-(%rax)", "8@16(%rip)",
};

static const struct row rows_of_aarch64[] = {
	{ "-4@w0", ARG(REGISTER, S32, 0, NONE), false },
	{ "8@x30", ARG(REGISTER, U64, 30, NONE), false },
	{ "8@sp", ARG(REGISTER, U64, 31, NONE), false },
	{ "8f@x2", ARG(REGISTER, F64, 2, NONE), false },
	{ "4f@s31", ARG(VECTOR, F32, 31, NONE), false },
	{ "-4@10", ARG(CONSTANT, S32, NONE, NONE, .low = 10), false },
	{ "-8@#-7", ARG(CONSTANT, S64, NONE, NONE, .low = -7, .high = -1), false },
	{ "4@wzr", ARG(CONSTANT, U32, NONE, NONE), false },
	{ "8@[sp]", ARG(MEMORY, U64, 31, NONE), false },
	{ "-4@[sp, 28]", ARG(MEMORY, S32, 31, NONE, .low = 28), false },
	{ "-4@[x29,#-16]", ARG(MEMORY, S32, 29, NONE, .low = -16, .high = -1), false },
	{ "1@[x1, x2]", ARG(MEMORY, U8, 1, 2), false },
	{ "4@[x1, x2, lsl 2]", ARG(MEMORY, U32, 1, 2, .scale = 2), false },
	{ "8@[x1, x2, lsl #3]", ARG(MEMORY, U64, 1, 2, .scale = 3), false },
};

static const char *const others_of_aarch64[] = {
	"8@x31", "8@[x0, w1, sxtw 3]", "8@[x0, 8]!", "8@[x0", "8@[]", "8@[w0]", "8@[x0, 8, lsl 3]",
	"8@[x0, x1, lsl 4]", "8@[x0, #:lo12:count]", "8@count", "8@x", "8@s32", "8@#", "@x0",
	"8@[x0, x1, lsl]",
};

static void read_one(struct ftr_operands *operands, const char *text)
{
	struct ftr_symbol symbol = { .addr = 0x4000, .size = 32, .type = 'D', .name = "count" };
	struct ftr_symtab symbols = { .symbols = &symbol, .nr = 1 };

	ftr_operands_read(operands, text, ftr_arch_find(EM_X86_64, ELFCLASS64)->operand, &symbols);
}

static void test_understood(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftr_operands operands;

		read_one(&operands, rows[i].text);
		if (operands.nr != 1 || operands.is_address[0] != rows[i].is_address ||
		    memcmp(&operands.v[0], &rows[i].arg, sizeof(rows[i].arg)) != 0)
			fail_msg("%s", rows[i].text);
	}
}

static void read_aarch64(struct ftr_operands *operands, const char *text)
{
	ftr_operands_read(operands, text, ftr_arch_find(EM_AARCH64, ELFCLASS64)->operand,
			  &(struct ftr_symtab){ 0 });
}

static void test_aarch64(void **state)
{
	struct ftr_operands operands;

	for (size_t i = 0; i < sizeof(rows_of_aarch64) / sizeof(rows_of_aarch64[0]); i++) {
		read_aarch64(&operands, rows_of_aarch64[i].text);
		if (operands.nr != 1 || memcmp(&operands.v[0], &rows_of_aarch64[i].arg,
					       sizeof(rows_of_aarch64[i].arg)) != 0)
			fail_msg("%s", rows_of_aarch64[i].text);
	}
	for (size_t i = 0; i < sizeof(others_of_aarch64) / sizeof(others_of_aarch64[0]); i++) {
		read_aarch64(&operands, others_of_aarch64[i]);
		if (operands.nr != 1 || operands.v[0].where != FTR_SDT_NOWHERE)
			fail_msg("%s", others_of_aarch64[i]);
	}
	read_aarch64(&operands, " -4@[sp, 28]  8@[x0, x1, lsl 3] 4@w3 8@[x0, ");
	assert_int_equal(operands.nr, 4);
	assert_int_equal(operands.v[1].scale, 3);
	assert_int_equal(operands.v[2].base, 3);
	assert_int_equal(operands.v[3].where, FTR_SDT_NOWHERE);
}

static void test_not_understood(void **state)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct ftr_operands operands;
		char text[64];

		snprintf(text, sizeof(text), "4@%%ecx %s -4@$1", others[i]);
		read_one(&operands, text);
		assert_int_equal(operands.nr, 3);
		if (operands.v[1].where != FTR_SDT_NOWHERE || operands.v[1].type != 0)
			fail_msg("%s", others[i]);
		assert_int_equal(operands.v[2].low, 1);
	}
}

static void test_as_many_as_there_may_be(void **state)
{
	struct ftr_operands operands;

	read_one(&operands, "");
	assert_int_equal(operands.nr, 0);
	read_one(&operands, "1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 "
		 "1@$13");
	assert_int_equal(operands.nr, FTR_SDT_ARGS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood),
		cmocka_unit_test(test_not_understood),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_as_many_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
