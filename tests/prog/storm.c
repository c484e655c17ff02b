/* SPDX-License-Identifier: MIT */
/*
 * A storm of signals on four threads, three kinds nested, one of them jumping out of whatever it
 * meets, hooks included: nothing is lost, nothing waits for a record that never comes.
 *
 * cflags: -pthread
 * record: --no-libcall -b 64k
 * expect-calls: work 800000
 * expect-calls: jumped_to 200
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS 4
#define WORK 200000
#define JUMPS 50

static __thread sigjmp_buf target;
static __thread volatile sig_atomic_t may_jump;
static __thread volatile long sink;

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

NOINLINE void jumped_to(void)
{
	__asm__ volatile("");
}

NOINLINE void handle(int depth)
{
	sink += depth;
	if (depth > 0)
		handle(depth - 1);
	__asm__ volatile("");
}

static void on_signal(int sig)
{
	handle(sig - SIGRTMIN);
	if (may_jump && sig == SIGRTMIN + 2) {
		may_jump = 0;
		siglongjmp(target, 1);
	}
}

static timer_t timer_start(int sig, long period_us)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig };
	struct itimerspec period = { { 0, period_us * 1000 }, { 0, period_us * 1000 } };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &period, NULL);
	return timer;
}

static void *in_storm(void *arg)
{
	timer_t timers[3];
	long sum = 0;

	for (int i = 0; i < 3; i++)
		timers[i] = timer_start(SIGRTMIN + i, 1000 - 100 * i);
	for (int i = 0; i < WORK; i++)
		sum += work(i);
	for (volatile int i = 0; i < JUMPS; i++) {
		if (sigsetjmp(target, 1) == 0) {
			may_jump = 1;
			for (;;)
				handle(1);
		}
		jumped_to();
	}
	for (int i = 0; i < 3; i++)
		timer_delete(timers[i]);
	return (void *)sum;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER };
	pthread_t threads[THREADS];
	void *sum;

	for (int i = 0; i < 3; i++)
		sigaction(SIGRTMIN + i, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_storm, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &sum);
		printf("%ld\n", (long)sum);
	}
	return 0;
}
