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
#include "utils/record/job.h"
#include "utils/record/syscalls.h"

#define PRELOAD_ENV "LD_PRELOAD"
#define ASAN_ENV "ASAN_OPTIONS"
#define BIND_NOT_ENV "LD_BIND_NOT"

void ftr_launch_signals(struct ftr_launch *launch, sigset_t *set)
{
	struct sigaction child = { .sa_handler = SIG_DFL };

	ftr_job_signals(set);
	sigprocmask(SIG_BLOCK, set, &launch->old_mask);
	sigaction(SIGCHLD, &child, &launch->old_chld);	/* ignored: no exit status for us */
}

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/*
 * What libmcount needs in the environment.  ASAN_OPTIONS: AddressSanitizer refuses to start when
 * another library was preloaded before its own; ours does not come in its way.
 */
static const char *const variables[] = { PRELOAD_ENV, FTR_CHANNEL_ENV, ASAN_ENV };
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

static bool is_replaced(const char *entry)
{
	size_t i;

	for (i = 0; i < VARIABLES; i++) {
		if (is_variable(entry, variables[i]))
			return true;
	}
	return false;
}

/* "NAME=OURS:THEIRS", or without theirs when they have none. */
static char *variable_join(const char *name, const char *ours)
{
	const char *theirs = getenv(name);
	char *entry;

	if (theirs != NULL && theirs[0] == '\0')
		theirs = NULL;
	if (asprintf(&entry, "%s=%s%s%s", name, ours, theirs != NULL ? ":" : "",
		     theirs != NULL ? theirs : "") < 0)
		return NULL;
	return entry;
}

static void environment_free(const struct ftr_launch *launch, char **env)
{
	size_t i;

	for (i = 0; env != NULL && launch->runtime != NULL && i < VARIABLES; i++)
		free(env[i]);
	free(env);
}

/* Our environment with the variables of libmcount, which are the first entries. */
static char **environment_new(const struct ftr_launch *launch)
{
	size_t nr = 0, kept = 0;
	char **env;

	while (environ[nr] != NULL)
		nr++;
	env = calloc(nr + VARIABLES + 2, sizeof(*env));
	if (env == NULL)
		return NULL;
	if (launch->runtime != NULL) {
		env[0] = variable_join(PRELOAD_ENV, launch->runtime);
		if (asprintf(&env[1], FTR_CHANNEL_ENV "=%s", launch->channel) < 0)
			env[1] = NULL;
		env[2] = variable_join(ASAN_ENV, "verify_asan_link_order=0");
		kept = VARIABLES;
	}
	if (kept != 0 && (env[0] == NULL || env[1] == NULL || env[2] == NULL)) {
		environment_free(launch, env);
		return NULL;
	}
	for (nr = 0; environ[nr] != NULL; nr++) {
		if (launch->runtime == NULL || !is_replaced(environ[nr]))
			env[kept++] = environ[nr];
	}
	if (launch->no_pltbind && getenv(BIND_NOT_ENV) == NULL)
		env[kept++] = BIND_NOT_ENV "=1";
	return env;
}

/*
 * Become the program; returns the errno of what failed.  May run in a vfork child: touches no
 * memory.
 */
static int become(const struct ftr_launch *launch, char **env)
{
	int code = 0;

	if (launch->no_randomize)
		personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
	sigaction(SIGCHLD, &launch->old_chld, NULL);
	sigprocmask(SIG_SETMASK, &launch->old_mask, NULL);
	if (launch->syscalls != NULL)
		code = ftr_record_syscalls_in_child(launch->syscalls);
	if (code != 0)
		return code;
	execve(launch->path, launch->argv, env);
	return errno;
}

static int exec_failed(const struct ftr_launch *launch, int code, struct ftr_err *err)
{
	return ftr_err_set(err, code, "%s: cannot be run: %s", launch->path, strerror(code));
}

static int parent_ready(const struct ftr_launch *launch, pid_t pid, struct ftr_err *err)
{
	return launch->syscalls != NULL ?
		       ftr_record_syscalls_in_parent(launch->syscalls, pid, err) : 0;
}

/* A vfork child shares our memory until it execs: it leaves the errno of a failure in *code. */
static int start_child(struct ftr_launch *launch, char **env, pid_t *pid, struct ftr_err *err)
{
	volatile int code = 0;
	pid_t child = vfork();

	if (child == 0) {
		code = become(launch, env);
		_exit(127);
	}
	if (child < 0)
		return ftr_err_set(err, errno, "fork: %s", strerror(errno));
	*pid = child;
	if (code == 0)
		return 0;
	waitpid(child, NULL, 0);
	return exec_failed(launch, code, err);
}

/* A child that waits for its observer to be there; the pipe closes at its exec. */
static int start_held(struct ftr_launch *launch, char **env, pid_t *pid, struct ftr_err *err)
{
	int fds[2], code = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	*pid = fork();
	if (*pid == 0) {
		code = become(launch, env);
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
static int become_when_ready(struct ftr_launch *launch, char **env, const int fds[2], pid_t middle,
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
	return exec_failed(launch, become(launch, env), err);
}

/* A child in between ends at once, so the program does not find a child that it never made. */
static int start_self(struct ftr_launch *launch, char **env, pid_t *pid, int *ready,
		      struct ftr_err *err)
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
		return become_when_ready(launch, env, fds, middle, err);
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
	char **env = environment_new(launch);
	int ret;

	*ready = -1;
	if (env == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (launch->keep_pid)
		ret = start_self(launch, env, pid, ready, err);
	else if (launch->syscalls != NULL)
		ret = start_held(launch, env, pid, err);
	else
		ret = start_child(launch, env, pid, err);
	environment_free(launch, env);
	if (ret == 0) {
		sigaction(SIGXFSZ, &ignore, NULL);	/* a full disk is a write that fails */
		sigaction(SIGPIPE, &ignore, NULL);
	}
	return ret;
}
