/* SPDX-License-Identifier: MIT */
/*
 * A program that locks all of its memory, within a limit that has no room for what tracing maps:
 * it can, its threads start, and all of them are recorded.
 *
 * cflags: -pthread
 * not: clang-xray-O2
 * expect-calls: in_thread 12
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS 6
#define STACK_BYTES (64ul << 10)
#define LIMIT_BYTES (8ul << 20)

static pthread_barrier_t all_alive;

NOINLINE int in_thread(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

static void *run(void *arg)
{
	in_thread(1);
	pthread_barrier_wait(&all_alive);
	in_thread(2);
	return arg;
}

/* What is resident and locked, as the kernel counts it. */
static long locked_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (fgets(line, sizeof(line), status) != NULL) {
		if (sscanf(line, "VmLck: %ld", &kb) == 1)
			break;
	}
	fclose(status);
	return kb;
}

static int start_threads(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t attr;
	int i, ret = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&all_alive, NULL, THREADS);
	for (i = 0; i < THREADS && ret == 0; i++)
		ret = pthread_create(&threads[i], &attr, run, NULL);
	if (ret != 0)
		_exit(ret);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return i;
}

int main(void)
{
	struct rlimit limit = { LIMIT_BYTES, LIMIT_BYTES };
	long kb;

	if (setuid(65534) != 0)		/* root may lock everything */
		printf("stays who it is\n");
	setrlimit(RLIMIT_MEMLOCK, &limit);
	printf("all: %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
	kb = locked_kb();
	printf("locked: %d\n", kb > 1000 && kb < (long)(LIMIT_BYTES >> 10));
	printf("%d threads\n", start_threads());
	printf("locked: %d\n", locked_kb() < (long)(LIMIT_BYTES >> 10));
	printf("none: %d, ", munlockall());
	printf("%ld KB\n", locked_kb());
	fflush(stdout);
	_exit(0);			/* gprof cannot write here as that user */
}
