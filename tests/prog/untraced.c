/* SPDX-License-Identifier: MIT */
/*
 * Threads that cannot have a ring, for each reason that a program can give: they and their calls
 * are counted, and the program notices nothing.
 *
 * cflags: -pthread
 * only: pg-O2 fentry-O2 cyg-O0
 * expect-calls: work 5
 * expect-warning: seccomp filter that
 * expect-warning: 13 threads .* 135 calls .*: no mem.*, no desc.*, a sec.*, thr
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define THREADS 3
#define CALLS 10

static pthread_barrier_t limited;

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

UNTRACED static void *run(void *arg)
{
	long sum = 0;

	pthread_barrier_wait(&limited);
	for (int i = 0; i < CALLS; i++)
		sum = work((int)sum);
	return (void *)sum;
}

UNTRACED static void limit(int what, rlim_t value)
{
	struct rlimit both = { value, value };

	setrlimit(what, &both);
}

UNTRACED static void no_memory(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	(void)!fscanf(statm, "%lu", &pages);
	fclose(statm);
	limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE));
}

/* A filter that kills for one system call. */
UNTRACED static void deny(unsigned nr)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

UNTRACED static void no_descriptors(void)
{
	close_range(3, ~0u, 0);
	limit(RLIMIT_NOFILE, 0);
}

UNTRACED static void no_helper(void)
{
	no_descriptors();
	deny(SYS_wait4);
}

UNTRACED static void no_process(void)
{
	(void)!setuid(65534);
	limit(RLIMIT_NPROC, 0);
	no_descriptors();
}

UNTRACED static void no_socket(void)
{
	deny(SYS_socket);
}

static void (*const ways[])(void) = { no_memory, no_helper, no_process, no_socket };

UNTRACED static long try(void (*restrict_all)(void))
{
	pthread_t threads[THREADS];
	long sum = 0;
	void *ret;
	int i;

	pthread_barrier_init(&limited, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	work(0);
	restrict_all();
	pthread_barrier_wait(&limited);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &ret);
		sum += (long)ret;
	}
	return sum;
}

UNTRACED static int beside(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		work(i);
	syscall(SYS_exit, 0);
	return 0;
}

/* A child with its parent's memory and thread-local storage, at the same time as that. */
UNTRACED static int share(void)
{
	static char stack[1 << 16];
	int status = 0;

	work(0);
	clone(beside, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	wait(&status);
	for (int i = 0; i < CALLS / 2; i++)
		work(i);
	return status;
}

UNTRACED int main(void)
{
	int status;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		fflush(stdout);
		if (fork() == 0)
			_exit((int)try(ways[i]));
		wait(&status);
		printf("%zu: %x\n", i, (unsigned)status);
	}
	fflush(stdout);
	if (fork() == 0)
		_exit(share());
	wait(&status);
	printf("shared: %x\n", (unsigned)status);
	return 0;
}
