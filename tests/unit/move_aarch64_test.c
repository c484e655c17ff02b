/* SPDX-License-Identifier: MIT */
/* What becomes of a first instruction of 64-bit Arm that runs elsewhere, on any machine. */
#include "tests/unit/unit.h"

#include <string.h>

#include "arch/aarch64/insn.h"
#include "arch/aarch64/patch.h"
#include "utils/patch/move_aarch64.c"

#define ADDR UINT64_C(0x12344)
#define TO UINT64_C(0x40)
#define WORDS_MAX 8

#define B(words) (0x14000000u | ((uint32_t)(words) & 0x3ffffff))
/* A branch in the moved code, word @n of it, to an address of the module. */
#define B_TO(n, target) B((int64_t)((target) - (TO + 4 * (n))) / 4)
#define LITERAL(address) (uint32_t)(address), (uint32_t)(address)

static const struct row {
	uint32_t word;
	uint8_t nr;
	uint8_t has_call, ends;
	uint8_t branches, literals;	/* bits: words with such fixes */
	uint32_t moved[WORDS_MAX];
} rows[] = {
	{ 0xa9bf7bfd, 2, 0, 0, 2, 0, { 0xa9bf7bfd, B_TO(1, ADDR + 4) } },	/* stp */
	{ 0xd503201f, 2, 0, 0, 2, 0, { 0xd503201f, B_TO(1, ADDR + 4) } },	/* nop */
	{ 0xd65f03c0, 1, 0, 1, 0, 0, { 0xd65f03c0 } },				/* ret */
	{ 0xd61f0200, 1, 0, 1, 0, 0, { 0xd61f0200 } },				/* br x16 */
	{ B(-4), 1, 0, 1, 1, 0, { B_TO(0, ADDR - 16) } },
	/* bl +64: x30 is where it would have returned to */
	{ 0x94000010, 4, 1, 0, 2, 4, { 0x5800005e, B_TO(1, ADDR + 64), LITERAL(ADDR + 4) } },
	/* blr x16 */
	{ 0xd63f0200, 4, 1, 0, 0, 4, { 0x5800005e, 0xd61f0200, LITERAL(ADDR + 4) } },
	/* b.eq, cbz x3, cbnz w4, tbz x5, #40, tbnz w6, #2: each 16 bytes further or back */
	{ 0x54000080, 3, 0, 1, 6, 0, { 0x54000040, B_TO(1, ADDR + 4), B_TO(2, ADDR + 16) } },
	{ 0xb4000083, 3, 0, 1, 6, 0, { 0xb4000043, B_TO(1, ADDR + 4), B_TO(2, ADDR + 16) } },
	{ 0x35ffff84, 3, 0, 1, 6, 0, { 0x35000044, B_TO(1, ADDR + 4), B_TO(2, ADDR - 16) } },
	{ 0xb6400085, 3, 0, 1, 6, 0, { 0xb6400045, B_TO(1, ADDR + 4), B_TO(2, ADDR + 16) } },
	{ 0x3717ff86, 3, 0, 1, 6, 0, { 0x37100046, B_TO(1, ADDR + 4), B_TO(2, ADDR - 16) } },
	/* adr x7, -3; adrp x8, two pages further */
	{ 0x30ffffe7, 5, 0, 0, 16, 4, { 0x58000047, B(3), LITERAL(ADDR - 3), B_TO(4, ADDR + 4) } },
	{ 0xd0000008, 5, 0, 0, 16, 4, { 0x58000048, B(3), LITERAL(0x14000), B_TO(4, ADDR + 4) } },
	/* ldr w9, ldr x10, ldrsw x11: 32 bytes further */
	{ 0x18000109, 6, 0, 0, 32, 4,
	  { 0x58000049, B(3), LITERAL(ADDR + 32), 0xb9400129, B_TO(5, ADDR + 4) } },
	{ 0x5800010a, 6, 0, 0, 32, 4,
	  { 0x5800004a, B(3), LITERAL(ADDR + 32), 0xf940014a, B_TO(5, ADDR + 4) } },
	{ 0x9800010b, 6, 0, 0, 32, 4,
	  { 0x5800004b, B(3), LITERAL(ADDR + 32), 0xb980016b, B_TO(5, ADDR + 4) } },
};

/* blr x1, braa, ldr q0 and prfm by distance, svc, brk, udf, eret */
static const uint32_t specials[] = { 0xd63f0020, 0xd73f0a11, 0x9c000100, 0xd8000100, 0xd4000001,
				     0xd4200000, 0x00000000, 0xd69f03e0 };

static enum ftr_move_state moved_of(uint32_t word, struct ftr_moved *moved)
{
	uint8_t bytes[INSN_BYTES];
	struct ftr_code code = { .bytes = bytes, .size = sizeof(bytes), .addr = ADDR };

	ftr_arch_word_put(bytes, word);
	return ftr_move(&code, INSN_BYTES, TO, moved);
}

/* A branch's fix is at its word, those of a literal at its two. */
static void check_fixes(size_t n, const struct ftr_moved *moved)
{
	unsigned branches = 0, low = 0, high = 0;

	for (unsigned i = 0; i < moved->fix_nr; i++) {
		unsigned bit = 1u << moved->fixes[i].at / INSN_BYTES;

		branches |= moved->fixes[i].kind == FTR_PLAIN_BRANCH ? bit : 0;
		low |= moved->fixes[i].kind == FTR_PLAIN_LOW ? bit : 0;
		high |= moved->fixes[i].kind == FTR_PLAIN_HIGH ? bit : 0;
	}
	if (branches != rows[n].branches || low != rows[n].literals || high != 2 * low)
		fail_msg("row %zu: branches %#x, literals %#x, %#x", n, branches, low, high);
}

static void test_moved(void **state)
{
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct ftr_moved moved;

		if (moved_of(rows[n].word, &moved) != FTR_MOVE_DONE ||
		    moved.from_bytes != INSN_BYTES || moved.code_bytes != 4u * rows[n].nr ||
		    moved.has_call != rows[n].has_call || moved.ends != rows[n].ends)
			fail_msg("row %zu", n);
		for (unsigned i = 0; i < rows[n].nr; i++) {
			if (ftr_arch_word(moved.code + 4 * i) != rows[n].moved[i])
				fail_msg("row %zu, word %u: %#x, not %#x", n, i,
					 ftr_arch_word(moved.code + 4 * i), rows[n].moved[i]);
		}
		check_fixes(n, &moved);
	}
}

static void test_left(void **state)
{
	struct ftr_code none = { .addr = ADDR };
	struct ftr_moved moved;

	for (size_t n = 0; n < sizeof(specials) / sizeof(specials[0]); n++) {
		if (moved_of(specials[n], &moved) != FTR_MOVE_SPECIAL)
			fail_msg("%#x", specials[n]);
	}
	assert_int_equal(moved_of(0x14000000, &moved), FTR_MOVE_INTO);	/* b to itself */
	assert_int_equal(ftr_move(&none, INSN_BYTES, TO, &moved), FTR_MOVE_UNDECODED);
}

static bool is_closed(uint32_t word)
{
	uint8_t bytes[2 * INSN_BYTES] = { 0 };

	ftr_arch_word_put(bytes + INSN_BYTES, word);
	return ftr_move_is_closed(&(struct ftr_code){
		.bytes = bytes, .size = sizeof(bytes), .addr = ADDR });
}

static void test_closed(void **state)
{
	assert_true(is_closed(0xd65f03c0) && is_closed(0x94000010));
	assert_true(is_closed(0xd4200000));
	assert_true(is_closed(0x14000010) && is_closed(0xd61f0200));
	assert_true(is_closed(0xd63f0020));
	assert_false(is_closed(0xd503201f) || is_closed(0x54000080));
	assert_false(is_closed(0xd4000001));
}

/* Registers of instructions by the fields of their classes. */
static void test_registers(void **state)
{
	static const struct {
		uint32_t word, reads, writes;
	} used[] = {
		{ 0xa9bf7bfd, 1u << 29 | 1u << 30, 0 },		/* stp x29, x30, [sp, #-16]! */
		{ 0xa8c17bfd, 0, 1u << 29 | 1u << 30 },		/* ldp x29, x30, [sp], #16 */
		{ 0xf9400821, 2, 2 },				/* ldr x1, [x1, #16] */
		{ 0xf9000862, 4 | 8, 0 },			/* str x2, [x3, #16] */
		{ 0xfd400820, 2, 0 },				/* ldr d0, [x1, #16] */
		{ 0xf8637841, 4 | 8, 2 },			/* ldr x1, [x2, x3, lsl #3] */
		{ 0xf8008c41, 2 | 4, 4 },			/* str x1, [x2, #8]! */
		{ 0x8b030041, 4 | 8, 2 },			/* add x1, x2, x3 */
		{ 0xaa0203e1, 4, 2 },				/* mov x1, x2 */
		{ 0xf2800021, 2, 2 },				/* movk x1, #1 */
		{ 0x9b031041, 4 | 8 | 16, 2 },			/* madd x1, x2, x3, x4 */
		{ 0xd63f0020, 2, 0 },				/* blr x1 */
		{ 0xb4000083, 8, 0 },				/* cbz x3 */
		{ 0xd53bd041, 0, 2 },				/* mrs x1, tpidr_el0 */
		{ 0x9e660001, 1 | 2, 0 },			/* fmov x1, d0 */
		{ 0x1e622820, 0, 0 },				/* fadd d0, d1, d2 */
		{ 0x4ee28420, 0, 0 },				/* add v0.2d, v1.2d, v2.2d */
		{ 0xc85f7c41, 2 | 4, 0 },			/* ldxr x1, [x2] */
	};

	for (size_t n = 0; n < sizeof(used) / sizeof(used[0]); n++) {
		struct ftr_a64_registers registers = ftr_a64_registers(used[n].word);

		if ((registers.reads & used[n].reads) != used[n].reads ||
		    registers.writes != used[n].writes ||
		    (n < 17 && registers.reads != used[n].reads))
			fail_msg("%#x: reads %#x, writes %#x", used[n].word, registers.reads,
				 registers.writes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
