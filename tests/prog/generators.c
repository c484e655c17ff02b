/* SPDX-License-Identifier: MIT */
/*
 * Generators on mapped stacks, one of which asks another, and recursive ones: each one's calls nest
 * within themselves, whichever runs, and every duration is counted once.
 *
 * cflags: -fno-inline -fno-optimize-sibling-calls
 * again: --nest-libcall
 * again: --no-libcall -F .
 * expect-calls: main 1
 * expect-calls: tree 7
 * expect-calls: walk 7
 * expect-calls: doubled 1
 * expect-calls: numbers 2
 * expect-calls: give 18
 * expect-calls: take 27
 */
/*
 * expect-graph:
 * # TOTAL TIME   SELF TIME   FUNCTION
 *   594.000 us             : (1) prog
 *   177.000 us   11.000 us :  +-(1) main
 *   166.000 us   20.000 us :  | (10) take
 *                          :  |
 *    43.000 us    6.000 us :  +-(1) doubled
 *    15.000 us    6.000 us :  |  +-(3) take
 *                          :  |  |
 *    22.000 us    4.000 us :  |  +-(2) give
 *                          :  |
 *    57.000 us    5.000 us :  +-(2) numbers
 *    52.000 us    7.000 us :  | (4) give
 *                          :  |
 *   317.000 us   14.000 us :  +-(7) tree
 *   303.000 us   33.000 us :    (7) walk
 *   138.000 us   28.000 us :     +-(14) take
 *                          :     |
 *   132.000 us   24.000 us :     +-(12) give
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "tests/prog/generator.h"

NOINLINE void numbers(struct generator *generator)
{
	for (int i = 1; i <= generator->arg; i++)
		give(generator, i);
}

/* Passes on what another generates. */
NOINLINE void doubled(struct generator *generator)
{
	static struct generator inner;
	int value;

	make(&inner, numbers, 2);
	while ((value = take(&inner)) != 0)
		give(generator, 2 * value);
}

NOINLINE void walk(struct generator *generator, int depth);

/* Each level of the tree is a generator of its own, which the level above asks. */
NOINLINE void tree(struct generator *generator)
{
	walk(generator, generator->arg);
}

NOINLINE void walk(struct generator *generator, int depth)
{
	int value;

	for (int i = 0; depth > 1 && i < 2; i++) {
		struct generator *child = calloc(1, sizeof(*child));

		make(child, tree, depth - 1);
		while ((value = take(child)) != 0)
			give(generator, value);
		munmap(child->stack, STACK_BYTES);
		free(child);
	}
	if (depth == 1)
		give(generator, 1);
}

int main(void)
{
	static struct generator one, other;
	int sum = 0, value;

	make(&one, doubled, 0);
	make(&other, numbers, 2);
	while ((value = take(&one)) != 0)
		sum += value + take(&other);
	printf("%d\n", sum);
	make(&one, tree, 3);
	while ((value = take(&one)) != 0)
		sum += value;
	printf("%d\n", sum);
	return 0;
}
