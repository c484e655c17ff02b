/* SPDX-License-Identifier: MIT */
/*
 * A program that is attached to while it runs, and watches what that does to it: attached WHAT...
 * starts threads that do each thing, and ends at SIGTERM with what went wrong, "eintr N wrong N":
 * system calls that ended with EINTR though no handler ran, results of functions that are not
 * right.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIGHT __attribute__((no_instrument_function))

static _Atomic unsigned long interrupted, wrong, rounds;
static volatile sig_atomic_t is_over;

__attribute__((noinline)) long fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static LIGHT void check(int is_right)
{
	wrong += !is_right;
	rounds++;
}

static LIGHT void waited(int ret, const char *call)
{
	if (ret < 0 && errno == EINTR) {
		interrupted++;
		printf("EINTR from %s\n", call);
		fflush(stdout);
	}
	check(fib(5) == 5);
}

static LIGHT void busy(void)
{
	double sum = 0;
	int i;

	for (i = 1; i <= 100; i++)	/* vector registers are the program's */
		sum += i * 0.5;
	check(sum == 2525.0 && fib(15) == 610);
}

static LIGHT void wait_epoll(void)
{
	int fd = epoll_create1(0);
	struct epoll_event event;

	while (!is_over)
		waited(epoll_wait(fd, &event, 1, 37), "epoll_wait");
	close(fd);
}

static LIGHT void wait_sleep(void)
{
	struct timespec time = { .tv_nsec = 29000000 };

	waited(nanosleep(&time, NULL), "nanosleep");
}

static LIGHT void wait_poll(void)
{
	waited(poll(NULL, 0, 31), "poll");
}

static LIGHT void wait_semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	while (!is_over) {
		struct sembuf down = { .sem_op = -1 };
		struct timespec time = { .tv_nsec = 23000000 };

		waited(semtimedop(id, &down, 1, &time), "semtimedop");
	}
	semctl(id, 0, IPC_RMID);
}

static LIGHT void wait_signal(void)
{
	struct timespec time = { .tv_nsec = 33000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	waited(sigtimedwait(&set, NULL, &time), "sigtimedwait");
}

static LIGHT void wait_mutex(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct timespec time = { .tv_nsec = 700000 };

	pthread_mutex_lock(&lock);
	nanosleep(&time, NULL);
	check(fib(6) == 8);
	pthread_mutex_unlock(&lock);
}

static LIGHT void allocate(void)
{
	void *memory[64];
	size_t i;

	for (i = 0; i < 64; i++) {
		memory[i] = malloc(1 + i * 997);
		memset(memory[i], (int)i, 1 + i * 997);
	}
	for (i = 0; i < 64; i++)
		free(memory[i]);
	check(fib(3) == 2);
}

static LIGHT void *short_life(void *arg)
{
	return (void *)fib((long)arg);
}

static LIGHT void create(void)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, short_life, (void *)8L) == 0) {
		pthread_join(thread, &ret);
		check((long)ret == 21);
	}
}

static LIGHT void forks(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(fib(9) == 34 ? 7 : 8);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		waited(-1, "waitpid");
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static LIGHT void executes(void)
{
	check(system("exit 9") >> 8 == 9 && fib(4) == 3);
}

static LIGHT void loads(void)
{
	void *handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	double (*root)(double) = handle != NULL ? (double (*)(double))dlsym(handle, "sqrt") : NULL;

	check(root != NULL && root(81.0) == 9.0 && fib(4) == 3);
	if (handle != NULL)
		dlclose(handle);
}

static jmp_buf place;

__attribute__((noinline)) void jump(long n)
{
	if (n == 0)
		longjmp(place, 1);
	jump(n - 1);
	check(0);
}

static LIGHT void jumps(void)
{
	if (setjmp(place) == 0)
		jump(10);
	check(fib(4) == 3);
}

/* A handler with calls of its own in the midst of anything, on a stack of its own. */
static LIGHT void handler(int signo)
{
	int saved = errno;

	check(fib(6) == 8);
	errno = saved;
}

static LIGHT void handle(void)
{
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };

	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (!is_over) {
		pthread_kill(pthread_self(), SIGUSR1);
		check(fib(10) == 55);
	}
}

/* One that waits for a signal with the mask of the wait: it must not be lost. */
static LIGHT void suspends(void)
{
	struct timespec time = { .tv_nsec = 1000000 };
	sigset_t mask, old;
	pid_t child;
	int status;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &mask, &old);
	signal(SIGCHLD, handler);
	child = fork();
	if (child == 0) {
		nanosleep(&time, NULL);
		_exit(3);
	}
	sigdelset(&old, SIGCHLD);
	sigsuspend(&old);
	check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
}

static const struct work {
	const char *name;
	void (*once)(void);	/* again and again, until it is over */
} works[] = {
	{ "busy", busy }, { "epoll", wait_epoll }, { "sleep", wait_sleep }, { "poll", wait_poll },
	{ "semaphore", wait_semaphore }, { "signal", wait_signal }, { "mutex", wait_mutex },
	{ "allocate", allocate }, { "create", create }, { "fork", forks }, { "exec", executes },
	{ "dlopen", loads }, { "jump", jumps }, { "handle", handle }, { "suspend", suspends },
};

static LIGHT void *work_main(void *arg)
{
	const struct work *work = arg;

	while (!is_over)
		work->once();
	return NULL;
}

static LIGHT void on_term(int signo)
{
	is_over = 1;
}

static LIGHT const struct work *work_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(works[i].name, name) == 0)
			return &works[i];
	}
	fprintf(stderr, "%s?\n", name);
	exit(2);
}

/* One that allows everything. */
static LIGHT void filter(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &all };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Signals of the process come to the main thread. */
LIGHT int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	struct timespec time = { .tv_nsec = 500000 };
	pthread_t threads[32];
	sigset_t blocked;
	int i, nr = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);	/* that of suspends() alone is to see it */
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	for (i = 1; i < argc && nr < 32; i++) {
		if (strcmp(argv[i], "seccomp") == 0)
			filter();
		else if (pthread_create(&threads[nr], NULL, work_main,
					(void *)work_find(argv[i])) == 0)
			nr++;
	}
	sigaction(SIGTERM, &action, NULL);
	sigdelset(&blocked, SIGUSR2);
	sigdelset(&blocked, SIGCHLD);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	puts("ready");
	fflush(stdout);
	while (!is_over) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		check(fib(4) == 3);
	}
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("eintr %lu wrong %lu\n", interrupted, wrong);
	return interrupted != 0 || wrong != 0 || rounds == 0;
}
