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
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#define UNTRACED \
	__attribute__((no_instrument_function, patchable_function_entry(0), xray_never_instrument))
#else
#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function, patchable_function_entry(0)))
#endif

enum { STACK_BYTES = 64 << 10 };

struct generator {
	ucontext_t self, caller;
	int value, arg, is_done;
	void *stack;
};

NOINLINE void give(struct generator *generator, int value)
{
	generator->value = value;
	swapcontext(&generator->self, &generator->caller);
}

NOINLINE int take(struct generator *generator)
{
	generator->value = 0;
	if (!generator->is_done)
		swapcontext(&generator->caller, &generator->self);
	return generator->value;
}

UNTRACED static void start(unsigned low, unsigned high, unsigned body_low, unsigned body_high)
{
	struct generator *generator = (void *)((unsigned long)high << 32 | low);
	void (*body)(struct generator *) = (void *)((unsigned long)body_high << 32 | body_low);

	body(generator);
	generator->is_done = 1;
	setcontext(&generator->caller);
}

UNTRACED static void make(struct generator *generator, void (*body)(struct generator *), int arg)
{
	unsigned long self = (unsigned long)generator, to = (unsigned long)body;

	if (generator->stack == NULL)
		generator->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	generator->arg = arg;
	generator->is_done = 0;
	getcontext(&generator->self);
	generator->self.uc_stack.ss_sp = generator->stack;
	generator->self.uc_stack.ss_size = STACK_BYTES;
	generator->self.uc_link = NULL;
	makecontext(&generator->self, (void (*)(void))start, 4, (unsigned)self,
		    (unsigned)(self >> 32), (unsigned)to, (unsigned)(to >> 32));
}

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
