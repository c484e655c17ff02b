/* SPDX-License-Identifier: MIT */
/* Generators, which are coroutines on mapped stacks, for the programs that are made of them. */
#ifndef GENERATOR_H
#define GENERATOR_H

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

#endif /* GENERATOR_H */
