/* SPDX-License-Identifier: MIT */
/*
 * Two coroutines that take turns: a call of one is always open above the last of the other.
 * Thousands of turns need no more room in the shadow stack than a few.
 *
 * record: --no-libcall --max-stack 64
 * cflags: -fno-inline
 * again: --no-libcall --max-stack 64 -F .
 * again: --max-stack 64 -A printf@arg1/s
 * expect-calls: main 1
 * expect-calls: leaf 5999
 */
#include <stdio.h>
#include <ucontext.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

enum { TURNS = 3000 };

static ucontext_t scheduler, coroutine;
static char stack[64 << 10];

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int yield(void)
{
	swapcontext(&coroutine, &scheduler);
	return leaf(1) + 1;
}

NOINLINE int resume(void)
{
	swapcontext(&scheduler, &coroutine);
	return leaf(2) + 1;
}

static void body(void)
{
	for (;;)
		yield();
}

int main(void)
{
	int i, sum = 0;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	coroutine.uc_link = &scheduler;
	makecontext(&coroutine, body, 0);
	for (i = 0; i < TURNS; i++)
		sum += resume();
	printf("%d\n", sum);
	return 0;
}
