/* SPDX-License-Identifier: MIT */
/* A traced program that ends in every way a program can.  Usage: victim MODE [N] */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int leaf(int n)
{
	__asm__ volatile("");
	return n + 1;
}

__attribute__((noinline)) int work(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}

__attribute__((noinline)) void *thread(void *arg)
{
	work(10);
	return arg;
}

__attribute__((noinline)) static void mode_threads(int n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));
	int i;

	for (i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

static void *brief(void *arg)
{
	leaf(1);
	return arg;
}

/* @n detached threads. */
static void mode_brief(int n)
{
	pthread_attr_t attr;
	pthread_t id;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < n; i++) {
		while (pthread_create(&id, &attr, brief, NULL) != 0)
			usleep(1000);
	}
	pthread_exit(NULL);
}

/* Twice forked, in a session of its own, without a terminal. */
static void mode_service(int n)
{
	if (daemon(1, 0) == 0) {
		usleep(100000);
		work(n);
	}
}

/* The child calls nothing that is traced until its parent is long gone. */
static void mode_daemon(int n)
{
	if (fork() == 0) {
		usleep(300000);
		work(n);
		_exit(0);
	}
}

/* The child does not, either, but execs. */
static void mode_heir(int n)
{
	char *const argv[] = { "victim", "work", NULL };

	if (fork() == 0) {
		usleep(50000);
		execv("/proc/self/exe", argv);
	}
}

/* The child calls nothing before its exec. */
static void mode_spawn(int n)
{
	char *const argv[] = { "victim", "work", NULL };

	if (fork() == 0)
		execv("/proc/self/exe", argv);
	wait(NULL);
}

/* Nor does what it becomes. */
static void mode_shell(int n)
{
	if (fork() == 0)
		execl("/bin/sh", "sh", "-c", ":", (char *)NULL);
	wait(NULL);
}

static void mode_children(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (fork() == 0) {
			work(5);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void *named(void *arg)
{
	if (arg != NULL)
		pthread_setname_np(pthread_self(), arg);
	work(1);
	usleep(50000);
	return arg;
}

/* Names by the thread itself, by another one, inherited, by prctl for the first. */
static void mode_names(int n)
{
	pthread_t ids[3];
	int i;

	pthread_create(&ids[0], NULL, named, "alpha");
	pthread_create(&ids[1], NULL, named, NULL);
	pthread_setname_np(ids[1], "beta");
	prctl(PR_SET_NAME, "gamma");
	pthread_create(&ids[2], NULL, named, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
	work(n);
}

/* A child that may have no memory any more. */
static void mode_limited(int n)
{
	struct rlimit limit = { 4096, 4096 };

	if (fork() == 0) {
		setrlimit(RLIMIT_AS, &limit);
		dprintf(1, "%d\n", work(n));
		_exit(0);
	}
	wait(NULL);
}

/* A child waits for a line of ours and works on when we are gone. */
static void mode_leave(int n)
{
	char byte;

	work(3);
	if (fork() == 0) {
		if (read(0, &byte, 1) == 1)
			dprintf(1, "%d\n", work(n));
		_exit(0);
	}
}

static void mode_leave_exec(int n)
{
	char byte;

	work(3);
	if (fork() == 0) {
		if (read(0, &byte, 1) != 1)
			_exit(1);
		if (vfork() == 0)
			execl("./victim", "victim", "work", (char *)NULL);
		wait(NULL);
		exit(system("./victim work"));
	}
}

static void *parallel(void *arg)
{
	work((int)(long)arg);
	return NULL;
}

static void mode_parallel(int n)
{
	pthread_t ids[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&ids[i], NULL, parallel, (void *)(long)n);
	for (i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

/* A process, @n threads and a forked child, each with calls of its own. */
static void mode_family(int n)
{
	int status;

	mode_threads(n);
	if (fork() == 0)
		_exit(work(6));
	wait(&status);
	printf("%d\n", work(6) + WEXITSTATUS(status) - 12);
}

/*
 * What the program finds of itself: descriptors, blocked and ignored signals, children and threads.
 */
static void mode_look(int n)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");
	char line[256];
	FILE *status;

	while ((entry = readdir(dir)) != NULL)
		printf("%s ", entry->d_name);
	closedir(dir);
	status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), status) != NULL) {
		if (strncmp(line, "Sig", 3) == 0 && strncmp(line, "SigQ", 4) != 0)
			printf("%s", line);
	}
	fclose(status);
	status = fopen("/proc/thread-self/children", "r");
	if (status != NULL) {
		while (fgets(line, sizeof(line), status) != NULL)
			printf("child %s\n", line);
		fclose(status);
	}
	dir = opendir("/proc/self/task");
	while ((entry = readdir(dir)) != NULL)
		printf("%s ", entry->d_name[0] == '.' ? "" : "thread");
	closedir(dir);
	work(n);
}

__attribute__((noinline)) static void for_50_us(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 50000);
}

/* Each image idles, and makes calls right before its end. */
static void mode_slow_exec(int n)
{
	char count[16];

	usleep(30000);
	for_50_us();
	for_50_us();
	snprintf(count, sizeof(count), "%d", n - 1);
	if (n > 1)
		execl("/proc/self/exe", "victim", "slow-exec", count, (char *)NULL);
}

static void mode_exec(int n)
{
	char count[16];

	snprintf(count, sizeof(count), "%d", n - 1);
	work(3);
	if (n > 0)
		execl("/proc/self/exe", "victim", "exec", count, (char *)NULL);
}

/* Works until a signal comes, and says so when it has begun. */
static void mode_loop(int n)
{
	work(10);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		work(n);
}

/* Waits for a line, then goes on: the recorder may have died meanwhile. */
__attribute__((noinline)) static void mode_wait(int n)
{
	char line[16];

	work(10);
	printf("ready\n");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) != NULL)
		printf("%d\n", work(n));
}

static void mode_stop(int n)
{
	raise(SIGSTOP);
	mode_wait(n);
}

/* A group of its own, which takes the terminal, as a shell does. */
static void mode_foreground(int n)
{
	signal(SIGTTOU, SIG_IGN);
	setpgid(0, 0);
	if (tcsetpgrp(0, getpid()) == 0 && tcgetpgrp(0) == getpgrp())
		mode_wait(n);
}

static void mode_work(int n) { printf("%d\n", work(n)); }
static void mode_abort(int n) { work(n); abort(); }
static void mode_kill(int n) { work(n); raise(SIGKILL); }
static void mode_segv(int n) { work(n); raise(SIGSEGV); }
static void mode_status(int n) { work(3); exit(n); }
static void mode_pid(int n) { work(n); printf("%d\n", getpid()); }

static const struct { const char *name; void (*run)(int n); } modes[] = {
	{ "abort", mode_abort },
	{ "brief", mode_brief },
	{ "children", mode_children },
	{ "daemon", mode_daemon },
	{ "exec", mode_exec },
	{ "family", mode_family },
	{ "foreground", mode_foreground },
	{ "heir", mode_heir },
	{ "kill", mode_kill },
	{ "leave", mode_leave },
	{ "look", mode_look },
	{ "leave-exec", mode_leave_exec },
	{ "limited", mode_limited },
	{ "loop", mode_loop },
	{ "names", mode_names },
	{ "parallel", mode_parallel },
	{ "pid", mode_pid },
	{ "segv", mode_segv },
	{ "service", mode_service },
	{ "shell", mode_shell },
	{ "slow-exec", mode_slow_exec },
	{ "spawn", mode_spawn },
	{ "status", mode_status },
	{ "stop", mode_stop },
	{ "threads", mode_threads },
	{ "wait", mode_wait },
	{ "work", mode_work },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc >= 2 && strcmp(modes[i].name, argv[1]) == 0) {
			modes[i].run(argc > 2 ? atoi(argv[2]) : 5);
			return 0;
		}
	}
	return 8;
}
