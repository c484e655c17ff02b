/* SPDX-License-Identifier: MIT */
/*
 * A handler switches to another coroutine in the middle of the hooks, at every few instructions of
 * them (the processor's trap flag): of a call that takes the other's calls for left, because both
 * lie in local arrays of one stack; of a return that closes the holes of the shadow stack; and of a
 * call while the other coroutine closes them; and of a call that the other's take for left before
 * it goes on.  The other one returns, and calls from the same place again.  Each call returns where
 * it must.
 *
 * only: pg-O2 fentry-O2 fentry-O0-cet
 * again: --no-libcall -F .
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define TRAP_FLAG 0x100ul
#define STACK_BYTES (64 << 10)
#define HOLES 64		/* when the runtime closes them */
#define STEPS 20000		/* more than any of it has */

static ucontext_t home, stepping, other, third, *resumer;
static jmp_buf landing;
static volatile int step, stop, is_armed, order, is_wrong;
static char far[2][STACK_BYTES] __attribute__((aligned(64)));

/* The places that must be passed, in this order. */
UNTRACED static void pass(int n)
{
	if (order++ != n)
		is_wrong = 1;
}

UNTRACED static void on_trap(int sig, siginfo_t *info, void *context)
{
	if (!is_armed || step++ != stop)
		return;
	is_armed = 0;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(long)TRAP_FLAG;
	resumer = &stepping;
	swapcontext(&stepping, &other);
}

#define TRAP_ON()                                                                                  \
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory")
#define TRAP_OFF()                                                                                 \
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "cc", "memory")

UNTRACED static void step_on(void)
{
	step = 0;
	is_armed = 1;
}

/* The other coroutine: it is left in each of these, which are called from one place. */
UNTRACED static void leave_other(void)
{
	swapcontext(&other, resumer);
}

NOINLINE int left(int n) { leave_other(); __asm__ volatile("" : "+r"(n)); return n + 1; }
NOINLINE int left_again(int n) { leave_other(); __asm__ volatile("" : "+r"(n)); return n + 2; }
NOINLINE int short_call(int n) { __asm__ volatile("" : "+r"(n)); return n + 3; }

NOINLINE void be_other(void)
{
	int n;

	n = left(10);
	pass(n - 11);
	n = left_again(20);
	pass(n - 21);
	n = short_call(30);
	pass(n - 31);
}

/* The one that is interrupted. */
UNTRACED static void leave_stepping(void)
{
	swapcontext(&stepping, &home);
}

UNTRACED static void be_stepping(void)
{
	step_on();
	TRAP_ON();
	short_call(40);
	TRAP_OFF();
	is_armed = 0;
}

/* Leaves so many calls below those of the other coroutine: holes. */
NOINLINE int deep(int n, int trap_at)
{
	int sum = n;

	if (n > 0)
		sum += deep(n - 1, trap_at);
	else if (trap_at != 0)
		leave_stepping();
	else
		leave_other();
	if (trap_at != 0 && n == trap_at + 1) {
		TRAP_OFF();
		is_armed = 0;
		leave_stepping();
	}
	if (n == trap_at && n != 0) {
		step_on();
		TRAP_ON();
	}
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

#define DEEP (HOLES + 6)

NOINLINE void be_deep_stepping(void)
{
	if (deep(DEEP, HOLES - 1) != DEEP * (DEEP + 1) / 2)
		is_wrong = 1;
}

NOINLINE void be_deep_other(void)
{
	if (deep(DEEP, 0) != DEEP * (DEEP + 1) / 2)
		is_wrong = 1;
	pass(0);
	leave_other();
	pass(1);
	short_call(1);
	pass(2);
}

UNTRACED static void make(ucontext_t *context, void *stack, void (*function)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK_BYTES;
	context->uc_link = &home;
	makecontext(context, function, 0);
}

UNTRACED static void resume(ucontext_t *context)
{
	resumer = &home;
	swapcontext(&home, context);
}

/* The one below, in a local array, is taken for left by the calls of that above. */
UNTRACED static void on_one_stack(void)
{
	char local[2 * STACK_BYTES] __attribute__((aligned(64)));

	make(&other, local, be_other);
	make(&stepping, local + STACK_BYTES, be_stepping);
	resume(&other);
	resume(&stepping);
	while (order < 3)
		resume(&other);
}

/* The one interrupted closes holes, which moves the other's calls. */
UNTRACED static void closing_holes(void)
{
	make(&stepping, far[0], be_deep_stepping);
	make(&other, far[1], be_other);
	resume(&stepping);
	resume(&other);
	resume(&stepping);
	while (order < 3)
		resume(&other);
	resume(&stepping);
}

/* The other closes holes, which moves the calls of the one that is interrupted. */
UNTRACED static void holes_closed(void)
{
	make(&other, far[1], be_deep_other);
	make(&stepping, far[0], be_stepping);
	resume(&other);
	resume(&stepping);
	while (order < 3)
		resume(&other);
}

NOINLINE void jump(int n)
{
	if (n >= 0)
		longjmp(landing, 1);
}

/* Two calls of one place: the first one does not return, the other goes back to the hook. */
UNTRACED static void jump_and_call(void)
{
	if (setjmp(landing) == 0) {
		jump(1);
		is_wrong = 1;		/* where the first one would return to */
	}
	pass(0);
	pass(left(1) - 1);
	pass(2);
}

UNTRACED static void leave_third(void)
{
	swapcontext(&third, &home);
}

NOINLINE int stay(int n) { leave_third(); __asm__ volatile("" : "+r"(n)); return n; }

UNTRACED static void be_third(void)
{
	stay(1);
}

/*
 * The call in whose hook the lower one is interrupted is taken for left by those of the upper one,
 * the second of which is not on top any more when it returns.
 */
UNTRACED static void hook_goes_on(void)
{
	char local[2 * STACK_BYTES] __attribute__((aligned(64)));

	make(&stepping, local, be_stepping);
	make(&other, local + STACK_BYTES, jump_and_call);
	make(&third, far[0], be_third);
	resume(&stepping);
	while (order < 1)		/* it was not interrupted */
		resume(&other);
	resume(&third);
	resume(&other);
	resume(&third);
}

UNTRACED static void run(const char *name, void (*scenario)(void), int stride)
{
	for (stop = 0; stop < STEPS; stop += stride) {
		step = order = 0;
		scenario();
		if (is_wrong || order != 3) {
			printf("%s: wrong after %d instructions\n", name, stop);
			is_wrong = 0;
		}
		if (step <= stop)
			break;
	}
	printf("%s: %s\n", name, stop > 5 && stop < STEPS ? "until it was through" :
							    "not until it was through");
}

UNTRACED int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	setvbuf(stdout, NULL, _IONBF, 0);
	run("on one stack", on_one_stack, 7);
	run("holes closed", holes_closed, 101);
	run("closing holes", closing_holes, 101);
	run("hook goes on", hook_goes_on, 1);
	return 0;
}
