/* SPDX-License-Identifier: MIT */
/*
 * Functions that begin with each kind of instruction that counts from where it is, and with what
 * signs the return address, patched as they are; and one that finds all registers and the flags as
 * they were: tests/prog/aarch64/first_instructions.h and its like.
 *
 * only: plain-O2 plain-O2-bti plain-O0 plain-O3-nopie clang-plain-O2 plain-O0-cet
 * expect-calls: first_adr 2
 * expect-calls: first_adrp 2
 * expect-calls: first_literal 2
 * expect-calls: first_word 2
 * expect-calls: first_signed 2
 * expect-calls: first_jump 2
 * expect-calls: first_condition 2
 * expect-calls: first_zero 2
 * expect-calls: first_bit 2
 * expect-calls: first_tail 2
 * expect-calls: first_return 2
 * expect-calls: first_call 2
 * expect-calls: first_keeps 2
 * expect-calls: plus_one 4
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone, used))

#include <first_instructions.h>

static jmp_buf target;

NOINLINE long plus_one(long n)
{
	__asm__ volatile("");
	return n + 1;
}

NOINLINE void leave(void)
{
	longjmp(target, 1);
}

static int left(void)
{
	if (setjmp(target) != 0)
		return 1;
	return (int)first_call(3);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		printf("%ld %ld %ld %ld %ld\n", first_adr(i), first_adrp(i), first_literal(i),
		       first_word(i), first_signed(i));
		printf("%ld %ld %ld %ld %ld\n", first_jump(i), first_condition_of(i + 5),
		       first_zero(i), first_bit((long)i << 33), first_tail(i));
		printf("%ld %d %ld\n", first_return(i), left(), kept());
	}
	return 0;
}
