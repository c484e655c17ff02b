/* SPDX-License-Identifier: MIT */
/* See job.h. */
#include "utils/record/job.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_INTERVAL_US 20000

static const int to_end[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static const int others[] = {
	SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD
};

void ftr_job_signals(sigset_t *set)
{
	size_t i;
	int signo;

	sigemptyset(set);
	for (i = 0; i < sizeof(to_end) / sizeof(to_end[0]); i++)
		sigaddset(set, to_end[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigaddset(set, others[i]);
	for (signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		sigaddset(set, signo);
}

bool ftr_job_is_request_to_end(int signo)
{
	size_t i;

	for (i = 0; i < sizeof(to_end) / sizeof(to_end[0]); i++) {
		if (to_end[i] == signo)
			return true;
	}
	return false;
}

/* By its state letter, which stands behind the name's last parenthesis. */
static bool is_stopped(pid_t pid)
{
	char path[64], line[512], *paren;
	bool ret = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(line, sizeof(line), file) != NULL) {
		paren = strrchr(line, ')');
		ret = paren != NULL && (paren[2] == 'T' || paren[2] == 't');
	}
	fclose(file);
	return ret;
}

/* While we are stopped: whatever continues the program may not continue us. */
static pid_t watcher_start(pid_t program)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && is_stopped(program))
		usleep(LOOK_INTERVAL_US);
	kill(parent, SIGCONT);
	_exit(0);
}

void ftr_job_continue(pid_t program)
{
	if (is_stopped(program))
		kill(program, SIGCONT);
}

void ftr_job_follow(pid_t program)
{
	siginfo_t info = { 0 };
	pid_t watcher;

	if (waitid(P_PID, (id_t)program, &info, WSTOPPED | WNOHANG) < 0 || info.si_pid != program)
		return;
	watcher = watcher_start(program);
	if (watcher < 0)
		return;
	kill(getpid(), SIGSTOP);
	kill(watcher, SIGKILL);
	waitpid(watcher, NULL, 0);
	ftr_job_continue(program);
}
