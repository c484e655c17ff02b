/* SPDX-License-Identifier: MIT */
/*
 * wanted() is called LOOPS times through functions that are not instrumented, and every other time
 * longjmp takes it, them and middle() away.
 */
#include <setjmp.h>

#define LOOPS 200
#define TRACED __attribute__((noinline, noclone))
#define BARE TRACED __attribute__((no_instrument_function, patchable_function_entry(0, 0)))

static jmp_buf before;
static volatile int sink, called;

TRACED void wanted(int jumps)
{
	called++;
	if (jumps)
		longjmp(before, 1);
}

BARE static void bare_inner(int jumps)
{
	wanted(jumps);
	sink++;
}

BARE static void bare_outer(int jumps)
{
	bare_inner(jumps);
	sink++;
}

TRACED void middle(int jumps)
{
	bare_outer(jumps);
	sink++;
}

int main(void)
{
	for (volatile int i = 0; i < LOOPS; i++)
		if (setjmp(before) == 0)
			middle(i & 1);
	return called == LOOPS ? 0 : 1;
}
