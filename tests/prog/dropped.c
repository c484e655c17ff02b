/* SPDX-License-Identifier: MIT */
/*
 * A generator that is dropped half-way, and others after it in its memory: theirs are no calls of
 * the dropped one's, whose own end nowhere.
 *
 * cflags: -fno-inline -fno-optimize-sibling-calls
 * not: cyg-O0 cyg-O2 clang-cyg-O2
 * again: --no-libcall -F .
 * expect-calls: main 1
 * expect-calls: numbers 50
 * expect-calls: give 100
 * expect-calls: take 100
 */
/*
 * expect-graph:
 * # TOTAL TIME   SELF TIME   FUNCTION
 *     1.148 ms             : (1) prog
 *   601.000 us  101.000 us :  +-(1) main
 *   500.000 us  200.000 us :  | (100) take
 *                          :  |
 *   547.000 us  100.000 us :  +-(50) numbers
 *   447.000 us  150.000 us :    (100) give
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "tests/prog/generator.h"

NOINLINE void numbers(struct generator *generator)
{
	for (int i = 1; i <= generator->arg; i++)
		give(generator, i);
}

int main(void)
{
	static struct generator dropped;
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		make(&dropped, numbers, 3);
		sum += take(&dropped);
		sum += take(&dropped);
	}
	printf("%d\n", sum);
	return 0;
}
