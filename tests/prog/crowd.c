/* SPDX-License-Identifier: MIT */
/*
 * Thousands of coroutines that are alive at a time and take turns at random: each call is recorded,
 * and on the stack that it was made on.
 *
 * only: pg-O0 pg-O2 fentry-O2 cyg-O2 clang-patch-O2
 * cflags: -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE
 * again: --no-libcall -F .
 * expect-calls: main 1
 * expect-calls: body 3000
 * expect-calls: turn 12000
 * expect-calls: resume 15000
 * expect-calls: leaf 27000
 */
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

enum { COROUTINES = 3000, TURNS = 4, STACK_BYTES = 32 << 10 };

static ucontext_t scheduler, coroutines[COROUTINES];
static int order[COROUTINES];
static long sum;

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void turn(int i)
{
	sum += leaf(i);
	swapcontext(&coroutines[i], &scheduler);
}

NOINLINE void body(int i)
{
	for (int n = 0; n < TURNS; n++)
		turn(i);
}

NOINLINE void resume(int i)
{
	swapcontext(&scheduler, &coroutines[i]);
	sum -= leaf(i);
}

__attribute__((no_instrument_function)) static void shuffle(void)
{
	static unsigned random = 7;

	for (int i = COROUTINES - 1; i > 0; i--) {
		int j, kept = order[i];

		random = random * 1103515245 + 12345;
		j = (int)((random >> 8) % (unsigned)(i + 1));
		order[i] = order[j];
		order[j] = kept;
	}
}

int main(void)
{
	char *stacks = mmap(NULL, (size_t)COROUTINES * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
		coroutines[i].uc_stack.ss_size = STACK_BYTES;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))body, 1, i);
		order[i] = i;
	}
	for (int n = 0; n <= TURNS; n++) {
		shuffle();
		for (int i = 0; i < COROUTINES; i++)
			resume(order[i]);
	}
	printf("%ld\n", sum);
	return 0;
}
