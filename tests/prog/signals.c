/* SPDX-License-Identifier: MIT */
/*
 * Handlers that call traced functions, arriving anywhere, inside hooks too, and on a stack of their
 * own.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * again: --no-libcall -F .
 * again: --no-libcall -t 1ns
 * expect-calls: main 1
 * expect-calls: spin 200000
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile sig_atomic_t ticks;
static volatile long sink;

NOINLINE long spin(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void in_handler(void)
{
	sink = sink + 1;
	ticks = ticks + 1;
}

static void on_signal(int sig)
{
	in_handler();
}

int main(void)
{
	struct itimerval timer = { { 0, 300 }, { 0, 300 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	long sum = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 100000; i++)
		sum = spin(sum);
	sigaltstack(&stack, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 100000; i++)
		sum = spin(sum);
	timer = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("%ld\n", sum);
	return 0;
}
