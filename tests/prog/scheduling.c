/* SPDX-License-Identifier: MIT */
/*
 * Tasks that wait, are pre-empted, get names, begin and end.
 *
 * expect-calls: nap 2
 * expect-calls: rename_self 1
 * expect-calls: spin 2
 * expect-event: nap linux:schedule
 * expect-event: rename_self linux:task-name (comm="renamed")
 * expect-event: spin linux:schedule (pre-empted)
 * expect-event: - linux:task-new
 * expect-event: - linux:task-name (comm="prog")
 * expect-event: - linux:task-exit
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static pthread_barrier_t both_spin;
static atomic_int were_preempted;

NOINLINE int nap(void)
{
	return usleep(1000);
}

NOINLINE int rename_self(void)
{
	char name[16] = "";

	prctl(PR_SET_NAME, "renamed");
	prctl(PR_GET_NAME, name);
	return puts(name);
}

/* Until the processor was taken from both: each keeps the other busy till then. */
NOINLINE long spin(void)
{
	struct rusage before, now;

	getrusage(RUSAGE_THREAD, &before);
	do
		getrusage(RUSAGE_THREAD, &now);
	while (now.ru_nivcsw == before.ru_nivcsw);
	atomic_fetch_add(&were_preempted, 1);
	while (atomic_load(&were_preempted) < 2)
		;
	return now.ru_nivcsw;
}

static void *run(void *arg)
{
	pthread_barrier_wait(&both_spin);
	spin();
	return arg;
}

static void *rest(void *arg)
{
	rename_self();
	nap();
	return arg;
}

/* Two that want the same processor. */
static void compete(void)
{
	cpu_set_t all, one;
	pthread_t thread;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_barrier_init(&both_spin, NULL, 2);
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(all), &all);
}

int main(void)
{
	pthread_t thread;

	nap();
	pthread_create(&thread, NULL, rest, NULL);
	pthread_join(thread, NULL);
	compete();
	return 0;
}
