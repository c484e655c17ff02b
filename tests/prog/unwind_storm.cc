// SPDX-License-Identifier: MIT
/*
 * A profiler's handler unwinds the stack thousands of times a second, through hooks and return
 * stubs: it never crashes, and what it interrupts goes on.
 *
 * cflags: -pthread -fno-inline
 * again: --no-libcall -F .
 * again: --no-libcall -t 1ns
 * expect-calls: leaf 200000
 */
#include <csignal>
#include <cstdio>
#include <execinfo.h>
#include <pthread.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned handled, deepest;

NOINLINE int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE int nest(int depth)
{
	int n = depth > 0 ? nest(depth - 1) : leaf(depth);

	__asm__ volatile("" : "+r"(n));
	return n;
}

NOINLINE int thrower(int depth)
{
	if (depth == 0)
		throw depth;
	return leaf(thrower(depth - 1));
}

// Not in the middle of another unwinding, which libgcc itself does not bear.
NOINLINE int catcher(int n)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	try {
		return thrower(n % 5);
	} catch (int) {
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		return 1;
	}
}

__attribute__((no_instrument_function)) static void on_tick(int)
{
	void *addresses[64];
	int nr = backtrace(addresses, 64);

	handled = handled + 1;
	if (nr > (int)deepest)
		deepest = nr;
}

NOINLINE void *work(void *)
{
	long sum = 0;

	for (int i = 0; i < 100000; i++) {
		sum += nest(i % 16);
		if (i % 50 == 0)
			sum += catcher(i);
	}
	return (void *)sum;
}

int main()
{
	struct itimerval every = {};
	struct sigaction action = {};
	void *warm[4], *result;
	pthread_t thread;

	backtrace(warm, 4);		// loads libgcc_s, which a handler must not
	action.sa_handler = on_tick;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	every.it_interval.tv_usec = every.it_value.tv_usec = 100;
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&thread, NULL, work, NULL);
	long sum = (long)work(NULL);
	pthread_join(thread, &result);
	every = {};
	setitimer(ITIMER_REAL, &every, NULL);
	printf("%ld %s\n", sum + (long)result, deepest > 2 ? "unwound" : "-");
	return 0;
}
