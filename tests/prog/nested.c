/* SPDX-License-Identifier: MIT */
/*
 * The static chain of nested functions (%r10) survives, also through a trampoline on the stack.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * only: pg-O0 pg-O2 pg-O3-cet pg-O1-nopie fentry-O2 fentry-O0-cet fentry-O3-nopie cyg-O0 cyg-O2
 * expect-calls: call 6
 * expect-calls: main 1
 */
#include <stdio.h>

__attribute__((noinline, noclone)) int call(int (*f)(int), int x)
{
	return f(x) + 1;
}

int main(void)
{
	int base = 100;
	int total = 0;

	__attribute__((noinline)) int add(int x)
	{
		base += x;
		return base;
	}

	for (int i = 0; i < 6; i++)
		total += call(add, i);
	printf("%d %d\n", total, base);
	return 0;
}
