/* SPDX-License-Identifier: MIT */
/*
 * Filters that kill for one system call, or refuse it, each in turn, and what a program may do
 * behind them without making that call itself: nothing that the runtime asks of the kernel changes
 * how it ends.
 *
 * cflags: -pthread
 * only: pg-O2
 * record: --no-libcall --no-event -b 256k -A work@arg1
 * expect-warning: installed a seccomp filter that blocks tracing|ran untraced
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function))
#define SYSCALLS 463
#define COMMON 64			/* files, memory, signals, sockets, processes: each time */
#define SHARE 8				/* of the others in a short run, with each way others */
#define REFUSED_WAYS 3			/* whose system calls cannot fail but by their own number */
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static atomic_int is_ready, go, done;
static unsigned denied;			/* a system call */

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

/* Natively it makes no other system call from here on. */
UNTRACED static void *first_call(void *arg)
{
	atomic_store(&is_ready, 1);
	while (!atomic_load(&go))
		sched_yield();
	work(1);
	atomic_store(&done, 1);
	for (;;)
		sched_yield();
	return arg;
}

/* Also where that is what is refused. */
UNTRACED static void end(int status)
{
	syscall(SYS_exit_group, status);
	__builtin_trap();
}

UNTRACED static void start_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, first_call, NULL);
	while (!atomic_load(&is_ready))
		sched_yield();
}

UNTRACED static void let_thread_call(void)
{
	atomic_store(&go, 1);
	while (!atomic_load(&done))
		sched_yield();
}

UNTRACED static void no_descriptors(void)
{
	struct rlimit none = { 0, 0 };

	close_range(3, ~0u, 0);
	setrlimit(RLIMIT_NOFILE, &none);
	start_thread();
}

UNTRACED static void nothing(void)
{
}

UNTRACED static void calls(void)
{
	for (int i = 0; i < 10000; i++)		/* more than a ring has room for */
		work(i);
}

UNTRACED static void forked(void)
{
	int status = 0;

	if (syscall(SYS_fork) == 0) {
		work(1);
		end(0);
	}
	syscall(SYS_wait4, -1, &status, 0, NULL);
	if (status != 0)
		end(9);
}

static void forked_by_libc(void)
{
	int status = 0;

	if (fork() == 0) {
		work(1);
		_exit(0);
	}
	wait(&status);
	if (status != 0)
		_exit(9);
}

static void vforked(void)
{
	int status = 0;

	if (vfork() == 0) {
		work(1);
		_exit(0);
	}
	wait(&status);
	if (status != 0)
		_exit(9);
}

static void executed(void)
{
	static char *args[] = { "/bin/true", NULL };

	work(1);
	execv(args[0], args);
}

/* But without what only a program for gprof calls before main, and we do not let happen. */
static void executed_again(void)
{
	static char *args[] = { "denied", "calls", NULL };

	if (denied != SYS_rt_sigaction && denied != SYS_setitimer && denied != SYS_getrandom)
		execv("/proc/self/exe", args);
}

static void locked(void)
{
	work(1);
	mlockall(MCL_FUTURE);
	forked_by_libc();
}

static void opened(void)
{
	work(1);
	dlopen("libm.so.6", RTLD_NOW);
	work(2);
}

static void named(void)
{
	prctl(PR_SET_NAME, "renamed", 0, 0, 0);
	work(1);
}

static const struct {
	const char *name;
	void (*before)(void);
	void (*behind)(void);
} ways[] = {
	{ "thread", start_thread, let_thread_call },
	{ "thread without descriptors", no_descriptors, let_thread_call },
	{ "fork", nothing, forked },
	{ "calls", nothing, calls },
	{ "fork by libc", nothing, forked_by_libc },
	{ "vfork", nothing, vforked },
	{ "exec", nothing, executed },
	{ "exec, calls", nothing, executed_again },
	{ "mlockall", nothing, locked },
	{ "dlopen", nothing, opened },
	{ "name", nothing, named },
};

/* For all threads. */
UNTRACED static void deny(unsigned nr, unsigned answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { NR(filter), filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		_exit(8);
}

UNTRACED static void try(unsigned nr, unsigned answer, size_t way)
{
	int status;

	if (fork() == 0) {
		alarm(20);
		denied = nr;
		ways[way].before();
		deny(nr, answer);
		ways[way].behind();
		end(0);
	}
	wait(&status);
	if (status != 0)
		printf("%s without %u (%x): %x\n", ways[way].name, nr, answer, (unsigned)status);
}

/* Those that programs and the runtime make, whatever else is tried. */
UNTRACED static int is_common(unsigned nr)
{
	static const unsigned common[] = {
		SYS_prctl, SYS_arch_prctl, SYS_gettid, SYS_futex, SYS_clock_gettime,
		SYS_clock_nanosleep, SYS_exit_group, SYS_tgkill, SYS_openat,
		SYS_ppoll, SYS_set_robust_list, SYS_pipe2, SYS_perf_event_open, SYS_prlimit64,
		SYS_process_vm_readv, SYS_seccomp, SYS_getrandom, SYS_memfd_create, SYS_execveat,
		SYS_statx, SYS_rseq, SYS_clone3, SYS_close_range,
	};

	for (size_t i = 0; i < NR(common); i++) {
		if (nr == common[i])
			return 1;
	}
	return nr < COMMON;
}

UNTRACED static void try_all(unsigned answer, size_t way_nr)
{
	const char *is_short = getenv("FTR_TEST_SHORT");
	unsigned nr;
	size_t way;

	for (way = 0; way < way_nr; way++) {
		for (nr = 0; nr < SYSCALLS; nr++) {
			if (is_short == NULL || is_common(nr) || (nr + way) % SHARE == 0)
				try(nr, answer, way);
		}
	}
}

UNTRACED int main(int argc, char **argv)
{
	struct rlimit no_core = { 0, 0 };
	char *volatile first;		/* allocation, which makes system calls */

	if (argc > 1) {
		calls();
		end(0);
	}
	setrlimit(RLIMIT_CORE, &no_core);
	setvbuf(stdout, NULL, _IONBF, 0);
	first = malloc(100000);
	free(first);
	work(0);
	try_all(SECCOMP_RET_KILL_PROCESS, NR(ways));
	try_all(SECCOMP_RET_ERRNO | EPERM, REFUSED_WAYS);
	return 0;
}
