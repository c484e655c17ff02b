/* SPDX-License-Identifier: MIT */
/* See apart.h. */
#include "cmds/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"

const int ftr_ending_signals[FTR_ENDING_SIGNALS] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

static void signals_default(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < FTR_ENDING_SIGNALS; i++) {
		sigaction(ftr_ending_signals[i], &action, NULL);
		sigaddset(&set, ftr_ending_signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);	/* the recorder had them blocked */
}

int ftr_run_apart(int (*work)(const void *arg), const void *arg)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		ftr_error("fork: %s", strerror(errno));
		return FTR_EXIT_FAILED;
	}
	if (pid == 0) {
		signals_default();
		status = work(arg);
		fflush(NULL);
		_exit(status);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ftr_ending_signals_ignore(void)
{
	for (size_t i = 0; i < FTR_ENDING_SIGNALS; i++)
		signal(ftr_ending_signals[i], SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}
