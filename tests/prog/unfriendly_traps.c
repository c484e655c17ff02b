/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints of its own, SIGTRAP by hand, values of queued signals, system calls interrupted by
 * signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <breakpoint.h>

static volatile int traps, value, alarms;
static void on_trap(int nr, siginfo_t *info, void *context)
{
	traps++;
	if (info->si_code == TRAP_BRKPT)
		STEP_OVER(context);
}

static void on_value(int nr, siginfo_t *info, void *context) { value = info->si_value.sival_int; }
static void on_alarm(int nr) { alarms++; }
int main(void)
{
	struct sigaction trapped = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigaction queued = { .sa_sigaction = on_value, .sa_flags = SA_SIGINFO };
	struct sigaction alarmed = { .sa_handler = on_alarm };
	struct itimerval soon = { { 0, 0 }, { 0, 50000 } };
	int fd, status;

	sigaction(SIGTRAP, &trapped, 0);
	__asm__ volatile(BREAKPOINT);
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	sigaction(SIGRTMIN + 3, &queued, 0);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 4711 });
	sigaction(SIGALRM, &alarmed, 0);
	mkfifo("fifo", 0600);
	setitimer(ITIMER_REAL, &soon, 0);
	fd = open("fifo", O_RDONLY);	/* it has no writer: the alarm ends it */
	printf("%d traps, value %d, open %d %s, %d alarms\n", traps, value, fd, fd < 0 && errno == EINTR ?
	       "EINTR" : "", alarms);
	fflush(stdout);
	alarmed.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &alarmed, 0);
	if (fork() == 0) {
		usleep(300000);
		_exit(open("fifo", O_WRONLY) < 0);
	}
	setitimer(ITIMER_REAL, &soon, 0);
	fd = open("fifo", O_RDONLY);	/* begins again after the alarm */
	wait(&status);
	printf("open %d, %d alarms, status %d\n", fd, alarms, status);
	raise(SIGSEGV);
	return 0;
}
