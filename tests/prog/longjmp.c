/* SPDX-License-Identifier: MIT */
/*
 * longjmp over traced frames, often, and siglongjmp out of a handler: the shadow stack does not
 * grow and later calls stand at the right depth.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-replay:
 * main() {
 *   jump_over() {
 *     deep() {
 *       deeper();
 *     }
 *   }
 *   jump_over() {
 *     deep() {
 *       deeper();
 *     }
 *   }
 *   raise_it() {
 *     on_signal();
 *   }
 *   after();
 * }
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf target;
static sigjmp_buf signal_target;

NOINLINE void deeper(void)
{
	longjmp(target, 1);
}

NOINLINE void deep(void)
{
	deeper();
	__asm__ volatile("");
}

NOINLINE void jump_over(void)
{
	deep();
	__asm__ volatile("");
}

NOINLINE void on_signal(int sig)
{
	siglongjmp(signal_target, sig);
}

NOINLINE void raise_it(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

NOINLINE int after(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

int main(void)
{
	volatile int jumps = 0;

	signal(SIGUSR1, on_signal);
	if (setjmp(target) == 0 || ++jumps < 2)
		jump_over();
	if (sigsetjmp(signal_target, 1) == 0)
		raise_it();
	printf("%d %d\n", jumps, after(3));
	return 0;
}
