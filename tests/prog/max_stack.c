/* SPDX-License-Identifier: MIT */
/*
 * --max-stack=3: three levels are recorded, what they call is not.
 *
 * record: --no-libcall --max-stack=3
 * expect-warning: LOST 10 records: calls were nested too deeply; raise --max-stack
 * expect-calls: main 1
 * expect-calls: level 2
 * expect-calls: leaf 0
 */
#include <stdio.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int level(int n)
{
	static int (*volatile next)(int) = level;
	int ret = n > 0 ? next(n - 1) : leaf(n);

	__asm__ volatile("" : "+r"(ret));
	return ret + 1;
}

int main(void)
{
	printf("%d\n", level(5));
	return 0;
}
