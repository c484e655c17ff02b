/* SPDX-License-Identifier: MIT */
/*
 * switches N: two processes on one CPU hand a byte to and fro N times; says the CPU time of one
 * switch.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

static UNTRACED double used_ns(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

static UNTRACED void one_cpu(void)
{
	cpu_set_t cpus;
	int i, found = 0;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &cpus) && found++ > 0)
			CPU_CLR(i, &cpus);
	}
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? atol(argv[1]) : 1000, i;
	int there[2], back[2];
	double before;
	char byte = 0;

	one_cpu();
	if (pipe(there) < 0 || pipe(back) < 0)
		return 1;
	before = used_ns(RUSAGE_SELF);
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			(void)!write(back[1], &byte, 1);
		_exit(0);
	}
	close(there[0]);
	for (i = 0; i < nr; i++)
		(void)!(write(there[1], &byte, 1) + read(back[0], &byte, 1));
	close(there[1]);
	wait(NULL);
	printf("switches=%ld ns=%.1f\n", 2 * nr,
	       (used_ns(RUSAGE_SELF) - before + used_ns(RUSAGE_CHILDREN)) / (double)(2 * nr));
	return 0;
}
