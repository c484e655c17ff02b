/* SPDX-License-Identifier: MIT */
/* A program to record events of.  switches MODE [N] */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

NOINLINE int nap(void)
{
	return usleep(1000);
}

static void *thread(void *arg)
{
	nap();
	return arg;
}

/* A thread that is named by its maker's name, and one that renames itself. */
static void mode_names(int n)
{
	pthread_t id;

	prctl(PR_SET_NAME, "first");
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	prctl(PR_SET_NAME, "second");
	nap();
}

/* One CPU, a byte to and fro. */
static void mode_pingpong(int n)
{
	int there[2], back[2];
	cpu_set_t cpus;
	char byte = 0;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (int i = 0, found = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &cpus) && found++ > 0)
			CPU_CLR(i, &cpus);
	}
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (pipe(there) < 0 || pipe(back) < 0)
		exit(1);
	nap();
	puts("ready");
	fflush(stdout);
	(void)!read(0, &byte, 1);
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			(void)!write(back[1], &byte, 1);
		_exit(0);
	}
	close(there[0]);
	while (n-- > 0)
		(void)!(write(there[1], &byte, 1) + read(back[0], &byte, 1));
	close(there[1]);
	wait(NULL);
	puts("done");
	fflush(stdout);
	(void)!read(0, &byte, 1);
}

/* It switches off all perf events that it has made itself. */
static void mode_disable(int n)
{
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	nap();
}

/* n KB of a ring, which its owner may not lock twice, while a program runs. */
static void mode_hog(int n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	void *ring = mmap(NULL, (size_t)n * 1024 + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	puts(ring == MAP_FAILED ? "failed" : "ready");
	fflush(stdout);
	(void)!getchar();
}

/* A child in another program, with a name of its own, that outlives us. */
static void mode_orphan(int n)
{
	if (fork() == 0) {
		char *const argv[] = { "switches", "nap", NULL };

		nap();
		usleep(50000);
		execv("/proc/self/exe", argv);
	}
}

static void mode_nap(int n)
{
	do
		nap();
	while (--n > 0);
}

static const struct {
	const char *name;
	void (*run)(int n);
} modes[] = {
	{ "disable", mode_disable },
	{ "hog", mode_hog },
	{ "names", mode_names },
	{ "nap", mode_nap },
	{ "orphan", mode_orphan },
	{ "pingpong", mode_pingpong },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, argv[1]) == 0) {
			modes[i].run(argc > 2 ? atoi(argv[2]) : 0);
			return 0;
		}
	}
	return 99;
}
