/* SPDX-License-Identifier: MIT */
/*
 * A tree with one call of a function from two callers, one that calls itself directly, two that
 * call each other, and calls that a longjmp leaves.
 *
 * expect-graph:
 * # TOTAL TIME   SELF TIME   FUNCTION
 *    33.000 us             : (1) prog
 *    33.000 us    7.000 us : (1) main
 *     5.000 us    3.000 us :  +-(1) twice
 *     2.000 us    2.000 us :  | (2) leaf
 *                          :  |
 *     2.000 us    2.000 us :  +-(2) leaf
 *                          :  |
 *     9.000 us    2.000 us :  +-(1) down
 *     7.000 us    2.000 us :  | (1) down
 *     5.000 us    2.000 us :  | (1) down
 *     3.000 us    2.000 us :  | (1) down
 *     1.000 us    1.000 us :  | (1) leaf
 *                          :  |
 *     7.000 us    2.000 us :  +-(1) even
 *     5.000 us    2.000 us :  | (1) odd
 *     3.000 us    2.000 us :  | (1) even
 *     1.000 us    1.000 us :  | (1) odd
 *                          :  |
 *     3.000 us    2.000 us :  +-(1) leave
 *     1.000 us    1.000 us :    (1) leaf
 */
#include <setjmp.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" : "+r"(x))

static jmp_buf back;

NOINLINE int leaf(int n)
{
	KEEP(n);
	return n + 1;
}

NOINLINE int twice(int n)
{
	n = leaf(n);
	n = leaf(n);
	KEEP(n);
	return n;
}

NOINLINE int down(int n)
{
	int ret = n == 0 ? leaf(n) : down(n - 1) + 1;

	KEEP(ret);
	return ret;
}

NOINLINE int odd(int n);

NOINLINE int even(int n)
{
	int ret = n == 0 ? 1 : odd(n - 1);

	KEEP(ret);
	return ret;
}

NOINLINE int odd(int n)
{
	int ret = n == 0 ? 0 : even(n - 1);

	KEEP(ret);
	return ret;
}

NOINLINE int leave(int n)
{
	n = leaf(n);
	longjmp(back, n);
	return n;
}

int main(void)
{
	int sum = twice(1);

	sum += leaf(sum);
	sum += down(3);
	sum += even(3);
	if (setjmp(back) == 0)
		sum += leave(sum);
	sum += leaf(1);
	printf("%d\n", sum);
	return 0;
}
