/* SPDX-License-Identifier: MIT */
/*
 * Surroundings in which little works: every call is recorded all the same, the first ones of
 * threads and of forked children included, and the program notices nothing.
 *
 * expect-calls: work 292
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
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

NOINLINE int work(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void *ten_calls(void *arg)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum = work((int)sum);
	return (void *)sum;
}

static long in_thread(void)
{
	pthread_t thread;
	void *ret = NULL;

	if (pthread_create(&thread, NULL, ten_calls, NULL) != 0)
		return -1;
	pthread_join(thread, &ret);
	return (long)ret;
}

static void limit(int what, rlim_t value)
{
	struct rlimit both = { value, value };

	setrlimit(what, &both);
}

static long descriptors_closed(void)
{
	close_range(3, ~0u, 0);
	return (long)ten_calls(NULL) + in_thread();
}

static long descriptors_overwritten(void)
{
	for (int fd = 3; fd < 200; fd++)
		dup2(2, fd);
	return (long)ten_calls(NULL) + in_thread();
}

/* 0, 1, 2 and one more, or none: a thread's first call needs two for a moment. */
static long few_descriptors(void)
{
	close_range(3, ~0u, 0);
	limit(RLIMIT_NOFILE, 4);
	return (long)ten_calls(NULL) + in_thread();
}

static long no_descriptor(void)
{
	close_range(3, ~0u, 0);
	limit(RLIMIT_NOFILE, 3);
	return (long)ten_calls(NULL) + in_thread();
}

static long no_descriptor_in_thread(void)
{
	ten_calls(NULL);
	close_range(3, ~0u, 0);
	limit(RLIMIT_NOFILE, 3);
	return 10 + in_thread();
}

static long small_files(void)
{
	limit(RLIMIT_FSIZE, 4096);
	return (long)ten_calls(NULL) + in_thread();
}

static long little_memory(void)
{
	limit(RLIMIT_AS, 256 << 20);
	return (long)ten_calls(NULL) + in_thread();
}

static long signals_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	return (long)ten_calls(NULL) + in_thread();
}

/* Where there is neither /proc nor anything else. */
static long other_root(void)
{
	char dir[] = "/tmp/ftr-root.XXXXXX";
	int outside = open("/", O_PATH | O_CLOEXEC);

	if (mkdtemp(dir) == NULL)
		return -1;
	if (chroot(dir) == 0)
		(void)!chdir("/");
	unlinkat(outside, dir + 1, AT_REMOVEDIR);
	close(outside);
	return (long)ten_calls(NULL) + in_thread();
}

static long other_user(void)
{
	(void)!setgid(65534);
	(void)!setuid(65534);
	return (long)ten_calls(NULL) + in_thread();
}

/* Both, and its threads and children are new to the recorder. */
static long other_root_and_user(void)
{
	int status;

	(void)!chroot("/var");
	(void)!setuid(65534);
	if (fork() == 0)
		_exit((int)(in_thread() + in_thread()));
	wait(&status);
	return WEXITSTATUS(status) + in_thread() + (long)ten_calls(NULL);
}

static long small_stack(void)
{
	limit(RLIMIT_STACK, 16384);
	return (long)ten_calls(NULL) + in_thread();
}

/* read, write, _exit and sigreturn are all that is allowed. */
static long strict_seccomp(void)
{
	char digit;

	work(0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 10;
	digit = (char)('0' + (long)ten_calls(NULL) / 10);
	write(1, &digit, 1);
	write(1, "\n", 1);
	syscall(SYS_exit, 10);
	return 0;
}

static long no_signal_left_behind(void)
{
	struct sigaction action;
	int handled = 0;

	ten_calls(NULL);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sig == SIGPROF)	/* gprof's, which -pg starts natively */
			continue;
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			handled++;
	}
	return handled;
}

static const struct {
	const char *name;
	long (*run)(void);
} surroundings[] = {
	{ "descriptors closed", descriptors_closed },
	{ "descriptors overwritten", descriptors_overwritten },
	{ "few descriptors", few_descriptors },
	{ "no descriptor", no_descriptor },
	{ "no descriptor in a thread", no_descriptor_in_thread },
	{ "small files", small_files },
	{ "little memory", little_memory },
	{ "other root", other_root },
	{ "other user", other_user },
	{ "other root and user", other_root_and_user },
	{ "small stack", small_stack },
	{ "signals blocked", signals_blocked },
	{ "strict seccomp", strict_seccomp },
	{ "signal handlers", no_signal_left_behind },
};

int main(void)
{
	int status;

	for (size_t i = 0; i < sizeof(surroundings) / sizeof(surroundings[0]); i++) {
		fflush(stdout);
		if (fork() == 0) {
			alarm(20);
			_exit((int)surroundings[i].run());
		}
		wait(&status);
		printf("%s: %x\n", surroundings[i].name, (unsigned)status);
	}
	ten_calls(NULL);
	work(1);
	return 0;
}
