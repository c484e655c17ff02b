/* SPDX-License-Identifier: MIT */
/* Starting the program. */
#include "utils/record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/proto/channel.h"

void ftr_launch_signals(struct ftr_launch *launch, sigset_t *set)
{
	struct sigaction child = { .sa_handler = SIG_DFL };

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, &launch->old_mask);
	sigaction(SIGCHLD, &child, &launch->old_chld);	/* ignored: no exit status for us */
}

static int environment_set(const struct ftr_launch *launch)
{
	const char *others = getenv("LD_PRELOAD");
	char *preload = NULL;
	int ret;

	if (launch->runtime == NULL)
		return 0;
	if (others != NULL && others[0] != '\0')
		ret = asprintf(&preload, "%s:%s", launch->runtime, others);
	else
		ret = asprintf(&preload, "%s", launch->runtime);
	if (ret < 0)
		return -ENOMEM;
	ret = setenv("LD_PRELOAD", preload, 1);
	free(preload);
	if (ret == 0)
		ret = setenv(FTR_CHANNEL_ENV, launch->channel, 1);
	return ret < 0 ? -ENOMEM : 0;
}

/* Become the program; returns the errno of what failed. */
static int become(const struct ftr_launch *launch)
{
	int code = -environment_set(launch);

	if (code != 0)
		return code;
	if (launch->no_randomize)
		personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
	sigaction(SIGCHLD, &launch->old_chld, NULL);
	sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
	if (launch->in_child != NULL)
		code = launch->in_child(launch->arg);
	if (code != 0)
		return code;
	execv(launch->path, launch->argv);
	return errno;
}

static int exec_failed(const struct ftr_launch *launch, int code, struct ftr_err *err)
{
	return ftr_err_set(err, code, "%s: cannot be run: %s", launch->path, strerror(code));
}

static int parent_ready(const struct ftr_launch *launch, pid_t pid, struct ftr_err *err)
{
	return launch->in_parent != NULL ? launch->in_parent(launch->arg, pid, err) : 0;
}

/* The other end closes at exec: nothing read means that the program runs. */
static int start_child(struct ftr_launch *launch, pid_t *pid, struct ftr_err *err)
{
	int fds[2], code = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	*pid = fork();
	if (*pid == 0) {
		code = become(launch);
		(void)!write(fds[1], &code, sizeof(code));
		_exit(127);
	}
	close(fds[1]);
	if (*pid < 0) {
		close(fds[0]);
		return ftr_err_set(err, errno, "fork: %s", strerror(errno));
	}
	if (parent_ready(launch, *pid, err) < 0) {
		close(fds[0]);
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
		return -err->code;
	}
	if (read(fds[0], &code, sizeof(code)) != sizeof(code))
		code = 0;
	close(fds[0]);
	if (code == 0)
		return 0;
	waitpid(*pid, NULL, 0);
	return exec_failed(launch, code, err);
}

/* Wait for the recorder, then be the program.  Only returns when that failed. */
static int become_when_ready(struct ftr_launch *launch, const int fds[2], pid_t middle,
			     struct ftr_err *err)
{
	char byte;
	ssize_t n;

	waitpid(middle, NULL, 0);
	close(fds[1]);
	n = read(fds[0], &byte, 1);
	close(fds[0]);
	if (n != 1)
		return ftr_err_set(err, ECHILD, "the recorder could not be started");
	return exec_failed(launch, become(launch), err);
}

/* A child in between ends at once, so the program does not find a child that it never made. */
static int start_self(struct ftr_launch *launch, pid_t *pid, int *ready, struct ftr_err *err)
{
	int fds[2];
	pid_t middle;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	*pid = getpid();
	middle = fork();
	if (middle < 0) {
		close(fds[0]);
		close(fds[1]);
		return ftr_err_set(err, errno, "fork: %s", strerror(errno));
	}
	if (middle > 0)
		return become_when_ready(launch, fds, middle, err);
	middle = fork();
	if (middle != 0)
		_exit(middle < 0);
	close(fds[0]);
	*ready = fds[1];
	return parent_ready(launch, *pid, err);
}

int ftr_launch_start(struct ftr_launch *launch, pid_t *pid, int *ready, struct ftr_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int ret;

	*ready = -1;
	ret = launch->keep_pid ? start_self(launch, pid, ready, err)
			       : start_child(launch, pid, err);
	if (ret == 0) {
		sigaction(SIGXFSZ, &ignore, NULL);	/* a full disk is a write that fails */
		sigaction(SIGPIPE, &ignore, NULL);
	}
	return ret;
}
