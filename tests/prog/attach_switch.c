/* SPDX-License-Identifier: MIT */
/*
 * A program that is attached to while coroutines wait in swapcontext, which they have jumped to as
 * a function's last thing: the context has a copy of where that function returns to.  At each
 * SIGUSR1 it starts all of them, or goes on with all of them, and says so.  It ends at SIGTERM with
 * "wrong N": results that are not right.
 */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#define COROUTINES 8
#define STACK_BYTES 65536

static struct coroutine {
	ucontext_t self, back;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
	long calls;
	int is_over;
} coroutines[COROUTINES];

static volatile sig_atomic_t is_asked, is_over;
static unsigned long wrong;

/* With optimisation there is nothing left to return to: it jumps. */
__attribute__((noinline)) int yield(struct coroutine *coroutine)
{
	return swapcontext(&coroutine->self, &coroutine->back);
}

__attribute__((noinline)) int resume(struct coroutine *coroutine)
{
	return swapcontext(&coroutine->back, &coroutine->self);
}

__attribute__((noinline)) long deep(struct coroutine *coroutine, long n)
{
	long ret = n == 0 ? yield(coroutine) : deep(coroutine, n - 1);

	coroutine->calls++;
	return ret + 1;
}

static void coroutine_main(int at)
{
	struct coroutine *coroutine = &coroutines[at];

	wrong += deep(coroutine, at) != at + 1;
	coroutine->is_over = 1;
	swapcontext(&coroutine->self, &coroutine->back);
}

static void start(int at)
{
	struct coroutine *coroutine = &coroutines[at];

	coroutine->calls = 0;
	coroutine->is_over = 0;
	getcontext(&coroutine->self);
	coroutine->self.uc_stack.ss_sp = coroutine->stack;
	coroutine->self.uc_stack.ss_size = STACK_BYTES;
	coroutine->self.uc_link = NULL;
	makecontext(&coroutine->self, (void (*)(void))coroutine_main, 1, at);
	resume(coroutine);
	wrong += coroutine->calls != 0 || coroutine->is_over;
}

static void go_on(int at)
{
	struct coroutine *coroutine = &coroutines[at];

	resume(coroutine);
	wrong += coroutine->calls != at + 1 || !coroutine->is_over;
}

static void on_signal(int signo)
{
	if (signo == SIGTERM)
		is_over = 1;
	else
		is_asked = 1;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned turn = 0;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	puts("ready");
	fflush(stdout);
	for (; !is_over; usleep(1000)) {
		if (!is_asked)
			continue;
		is_asked = 0;
		for (int i = 0; i < COROUTINES; i++)
			(turn % 2 == 0 ? start : go_on)(i);
		puts(turn++ % 2 == 0 ? "started" : "over");
		fflush(stdout);
	}
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
