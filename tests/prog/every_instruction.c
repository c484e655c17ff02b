/* SPDX-License-Identifier: MIT */
/*
 * A signal after every single instruction of the hooks (the processor's trap flag): handlers that
 * call traced functions, that jump out, and that fork; and of the hook of a call before which
 * others were left by a jump that told nobody, at every few.  Nothing is lost, doubled or harmed.
 *
 * only: pg-O2 fentry-O2 cyg-O2 clang-pg-O2
 * record: --no-libcall -b 16k
 * expect-calls: worked 500
 * expect-calls: handled 1000
 * expect-calls: child 1000
 * expect-calls: after 22000
 * expect-calls: worked_later 500
 * expect-calls: left 1000
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define STEPS 500		/* more than a call and its hooks have */
#define STRIDE 4		/* of a call that finds others left: it has so many times more */
#define TRAP_FLAG 0x100

enum mode { CALL, JUMP, FORK };

static volatile enum mode mode;
static volatile int step, stop, hits;
static int stride = 1;
static volatile pid_t pid = -1;
static sigjmp_buf out;
static void *not_told[5];

NOINLINE int worked(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
NOINLINE int jumped(int n) { __asm__ volatile("" : "+r"(n)); return n + 2; }
NOINLINE int worked_later(int n) { __asm__ volatile("" : "+r"(n)); return n + 7; }
NOINLINE int jumped_later(int n) { __asm__ volatile("" : "+r"(n)); return n + 8; }
NOINLINE int forked(int n) { __asm__ volatile("" : "+r"(n)); return n + 3; }
NOINLINE int handled(int n) { __asm__ volatile("" : "+r"(n)); return n + 4; }
NOINLINE int child(int n) { __asm__ volatile("" : "+r"(n)); return n + 5; }
NOINLINE int after(int n) { __asm__ volatile("" : "+r"(n)); return n + 6; }

UNTRACED static void reap(void)
{
	int status = -1;

	waitpid(pid, &status, 0);
	if (status != 0)
		printf("child after %d instructions: %x\n", stop, (unsigned)status);
}

/* Half of the children attach inside the handler, half when the interrupted hook is through. */
UNTRACED static void split(void)
{
	pid = fork();
	if (pid == 0 && stop % 2 == 0)
		child(1);
	if (pid > 0)
		reap();
}

UNTRACED static void on_trap(int sig, siginfo_t *info, void *context)
{
	if (step++ != stop)
		return;
	hits++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	if (mode == CALL)
		handled(sig);
	else if (mode == JUMP)
		siglongjmp(out, 1);
	else
		split();
}

UNTRACED static int stepped(int (*function)(int))
{
	int ret;

	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory");
	ret = function(10);
	__asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "cc", "memory");
	return ret;
}

NOINLINE void left(void) { __builtin_longjmp(not_told, 1); }

/* From many places: what is jumped out of while it keeps a return address has no more of them. */
UNTRACED NOINLINE static void leave(void)
{
	char *room = __builtin_alloca(16 + 16 * (stop / stride % 64));

	__asm__ volatile("" : : "r"(room) : "memory");
	if (__builtin_setjmp(not_told) == 0)
		left();
}

UNTRACED static void child_ends(void)
{
	child(2);
	if (stop % 2 != 0)
		child(3);
	_exit(0);
}

/*
 * One instruction farther each time; what is left when the call is shorter happens without a
 * signal.
 */
UNTRACED static void run(enum mode what, int (*function)(int), int expected, void (*before)(void))
{
	int is_through = 0;

	mode = what;
	hits = 0;
	for (stop = 0; stop < stride * STEPS; stop += stride) {
		step = 0;
		before();
		if (is_through)
			function(1);
		else if (sigsetjmp(out, 1) == 0 && stepped(function) != expected)
			printf("a wrong result after %d instructions\n", stop);
		if (!is_through && step <= stop)
			is_through = 1;
		if (is_through && mode == CALL)
			handled(0);
		else if (is_through && mode == FORK)
			split();
		if (pid == 0)
			child_ends();
		if (mode != FORK)
			after(1);
	}
	printf("%s\n", hits > 5 && hits < STEPS ? "every instruction" : "not every instruction");
}

UNTRACED static void nothing(void)
{
}

UNTRACED int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	setvbuf(stdout, NULL, _IONBF, 0);
	after(1);
	run(CALL, worked, 11, nothing);
	run(JUMP, jumped, 12, nothing);
	stride = STRIDE;
	run(CALL, worked_later, 17, leave);
	run(JUMP, jumped_later, 18, leave);
	stride = 1;
	for (int i = 1; i < 20000; i++)		/* several times what the ring holds */
		after(i);
	run(FORK, forked, 13, nothing);
	return 0;
}
