/* SPDX-License-Identifier: MIT */
/* The functions of tests/prog/first_instructions.c in C: plain_shapes.c has assembly. */
NOINLINE long plus_one(long n);
NOINLINE void leave(void);
/* No compiler knows what it returns. */
#define FUNCTION(name, value) \
	NOINLINE long name(long n) { __asm__ volatile("" : "+r"(n)); return value; }

FUNCTION(first_adr, n + 300)
FUNCTION(first_adrp, n + 2000)
FUNCTION(first_literal, n + 0x100000000)
FUNCTION(first_word, n - 5)
FUNCTION(first_signed, plus_one(n) ^ 0)
FUNCTION(first_jump, n + 7)
FUNCTION(first_condition, n > 5 ? n + 1 : n - 1)
FUNCTION(first_zero, n == 0 ? 77 : n - 1)
FUNCTION(first_bit, (n >> 33 & 1) != 0 ? 78 : n - 1)
FUNCTION(first_tail, plus_one(n))
FUNCTION(first_return, n)
FUNCTION(first_call, (leave(), n))
FUNCTION(first_keeps, 31 + n)
#define first_condition_of first_condition

static long kept(void)
{
	return first_keeps(0);
}
