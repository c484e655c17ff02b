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

#include "utils/proto/environ.h"
#include "utils/record/job.h"
#include "utils/record/syscalls.h"

#define BIND_NOT_ENV "LD_BIND_NOT"
#define AUDIT_ENV "LD_AUDIT"	/* vfork cannot return twice through an auditor's trampoline */

void ftr_launch_signals(struct ftr_launch *launch, sigset_t *set)
{
	struct sigaction child = { .sa_handler = SIG_DFL };

	ftr_job_signals(set);
	sigprocmask(SIG_BLOCK, set, &launch->old_mask);
	sigaction(SIGCHLD, &child, &launch->old_chld);	/* ignored: no exit status for us */
}

/* What the runtime needs, utils/proto/environ.h: lists keep what the user has. */
struct variable {
	const char *name, *ours;
	bool is_list;
};

#define VARIABLES 3

static void variables_set(struct variable variables[VARIABLES], const struct ftr_launch *launch)
{
	variables[0] = (struct variable){ FTR_ENVIRON_PRELOAD, launch->runtime, true };
	variables[1] = (struct variable){ FTR_ENVIRON_ASAN, FTR_ENVIRON_ASAN_OURS, true };
	variables[2] = (struct variable){ FTR_ENVIRON_CHANNEL, launch->channel, false };
}

static const char *value_in(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 ? entry + len : NULL;
}

static size_t variable_find(char *const *env, const char *name)
{
	size_t i;

	for (i = 0; env[i] != NULL && value_in(env[i], name) == NULL; i++)
		;
	return i;
}

static void environment_free(char **env)
{
	size_t i;

	for (i = 0; env != NULL && env[i] != NULL; i++)
		free(env[i]);
	free(env);
}

/* Put @entry (owned, NULL = no memory) at the end or in the place of another one. */
static int entry_put(char **env, size_t at, char *entry)
{
	if (entry == NULL)
		return -ENOMEM;
	free(env[at]);
	env[at] = entry;
	return 0;
}

static int variable_add(char **env, const struct variable *variable)
{
	size_t at = variable_find(env, variable->name);
	char *entry = NULL;
	int ret;

	if (env[at] != NULL && variable->is_list)
		ret = asprintf(&entry, "%s%s:%s", variable->name, variable->ours,
			       value_in(env[at], variable->name));
	else
		ret = asprintf(&entry, "%s%s", variable->name, variable->ours);
	return ret < 0 ? -ENOMEM : entry_put(env, at, entry);
}

static size_t entries_count(char *const *env)
{
	size_t nr = 0;

	while (env[nr] != NULL)
		nr++;
	return nr;
}

static int variables_add(char **env, const struct ftr_launch *launch)
{
	size_t before = entries_count(env), added, i;
	struct variable variables[VARIABLES];

	if (launch->runtime == NULL)
		return 0;
	variables_set(variables, launch);
	for (i = 0; i < VARIABLES; i++) {
		if (variable_add(env, &variables[i]) < 0)
			return -ENOMEM;
	}
	added = entries_count(env) - before;
	if (added % 2 == 0)
		return 0;
	return entry_put(env, before + added, strdup(FTR_ENVIRON_PAD));
}

/* Our environment with the variables of libmcount. */
static char **environment_new(const struct ftr_launch *launch)
{
	size_t nr = entries_count(environ), i;
	char **env = calloc(nr + VARIABLES + 3, sizeof(*env));	/* a pad, BIND_NOT, NULL */
	int ret = env == NULL ? -ENOMEM : 0;

	for (i = 0; ret == 0 && i < nr; i++)
		ret = entry_put(env, i, strdup(environ[i]));
	if (ret == 0 && launch->no_pltbind && getenv(BIND_NOT_ENV) == NULL)
		ret = entry_put(env, nr, strdup(BIND_NOT_ENV "=1"));
	if (ret == 0)
		ret = variables_add(env, launch);
	if (ret == 0)
		return env;
	environment_free(env);
	return NULL;
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
	sigaction(SIGXFSZ, &launch->ignored->file_size, NULL);
	sigaction(SIGPIPE, &launch->ignored->pipe, NULL);
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
	int code;

	waitpid(middle, NULL, 0);
	close(fds[1]);
	n = read(fds[0], &byte, 1);
	code = n < 0 ? errno : ECHILD;
	close(fds[0]);
	if (n != 1)
		return ftr_err_set(err, ECHILD, "the recorder could not be started: %s",
				   n < 0 ? strerror(code) : "it exited before it was ready");
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

void ftr_launch_ignore(struct ftr_launch_ignored *old)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, &old->file_size);
	sigaction(SIGPIPE, &ignore, &old->pipe);
}

int ftr_launch_start(struct ftr_launch *launch, pid_t *pid, int *ready, struct ftr_err *err)
{
	char **env = environment_new(launch);
	int ret;

	*ready = -1;
	if (env == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (launch->keep_pid)
		ret = start_self(launch, env, pid, ready, err);
	else if (launch->syscalls != NULL || getenv(AUDIT_ENV) != NULL)
		ret = start_held(launch, env, pid, err);
	else
		ret = start_child(launch, env, pid, err);
	environment_free(env);
	return ret;
}
