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

/* The next value, 0 = there is none. */
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
