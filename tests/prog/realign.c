/* SPDX-License-Identifier: MIT */
/*
 * Functions with over-aligned locals return through a slot that is not 8(%rbp): their exits are
 * seen.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-replay:
 * main() {
 *   aligned64() {
 *     leaf();
 *   }
 *   aligned4096() {
 *     leaf();
 *   }
 *   aligned64() {
 *     leaf();
 *   }
 * }
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int leaf(volatile int *p)
{
	return *p + 1;
}

NOINLINE int aligned64(int n)
{
	_Alignas(64) volatile int v[16];

	v[0] = n;
	return leaf(v) + (int)((unsigned long)v % 64);
}

NOINLINE int aligned4096(int n)
{
	_Alignas(4096) volatile int v[16];

	v[0] = n;
	return leaf(v) + (int)((unsigned long)v % 4096);
}

int main(void)
{
	printf("%d\n", aligned64(1));
	printf("%d\n", aligned4096(2));
	printf("%d\n", aligned64(3));
	return 0;
}
