/* SPDX-License-Identifier: MIT */
/*
 * exec and posix_spawn: a new image is traced through LD_PRELOAD and FTR_CHANNEL, also when the program
 * hands on an environment of its own making.  What it hands on is kept; ours is added to it.
 *
 * exec is allowed in signal handlers and after vfork, so the new environment is built on the stack.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/channel.h"

#define PRELOAD_NAME "LD_PRELOAD="
#define CHANNEL_NAME FTR_CHANNEL_ENV "="
#define PRELOAD_MAX 8192	/* bytes of a merged LD_PRELOAD; a longer one is handed on as it is */

typedef char *const *strings;

#define REAL(name) \
	((__typeof__(&name))(ftr_state.real.name != NULL ? ftr_state.real.name : \
			     dlsym(RTLD_NEXT, #name)))

static int result(long ret)
{
	if (ret >= 0)
		return (int)ret;
	errno = (int)-ret;
	return -1;
}

struct exec_env {
	size_t nr;
	size_t preload;			/* index of LD_PRELOAD, or nr */
	size_t channel;			/* index of FTR_CHANNEL, or nr */
};

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static struct exec_env env_look(strings envp)
{
	struct exec_env env = { 0 };
	size_t i;

	while (envp != NULL && envp[env.nr] != NULL)
		env.nr++;
	env.preload = env.channel = env.nr;
	for (i = 0; i < env.nr; i++) {
		if (starts_with(envp[i], PRELOAD_NAME))
			env.preload = i;
		else if (starts_with(envp[i], CHANNEL_NAME))
			env.channel = i;
	}
	return env;
}

/* Ours first: it must come before what it interposes. */
static char *preload_merge(char *theirs, char *buf)
{
	const char *value = theirs + strlen(PRELOAD_NAME);
	size_t ours = strlen(ftr_state.preload_env), len = strlen(value);

	if (strstr(value, ftr_state.preload_env + strlen(PRELOAD_NAME)) != NULL ||
	    ours + 1 + len + 1 > PRELOAD_MAX)
		return theirs;
	memcpy(buf, ftr_state.preload_env, ours);
	buf[ours] = ':';
	memcpy(buf + ours + 1, value, len + 1);
	return buf;
}

/* Fill @out, room for env->nr + 3 strings. */
static void env_merge(strings envp, const struct exec_env *env, char **out, char *buf)
{
	size_t nr = env->nr;

	if (nr > 0)
		memcpy(out, envp, nr * sizeof(*out));
	if (ftr_state.preload_env != NULL) {
		out[env->preload] = env->preload < nr ? preload_merge(envp[env->preload], buf) :
							ftr_state.preload_env;
		if (env->preload == nr)
			nr++;
		out[env->channel < env->nr ? env->channel : nr++] = ftr_state.channel_env;
	}
	out[nr] = NULL;
}

/* Declares @merged, an environment on this function's stack made from @envp. */
#define MERGED_ENV(merged, envp) \
	struct exec_env look_ = env_look(envp); \
	char preload_[PRELOAD_MAX]; \
	char *merged[look_.nr + 3]; \
	env_merge(envp, &look_, merged, preload_)

FTR_EXPORT int execve(const char *path, strings argv, strings envp)
{
	MERGED_ENV(merged, envp);

	return result(ftr_sys3(SYS_execve, path, argv, merged));
}

FTR_EXPORT int execv(const char *path, strings argv)
{
	return execve(path, argv, environ);
}

FTR_EXPORT int execvpe(const char *file, strings argv, strings envp)
{
	MERGED_ENV(merged, envp);

	return REAL(execvpe)(file, argv, merged);
}

FTR_EXPORT int execvp(const char *file, strings argv)
{
	return execvpe(file, argv, environ);
}

FTR_EXPORT int fexecve(int fd, strings argv, strings envp)
{
	MERGED_ENV(merged, envp);

	return result(ftr_sys5(SYS_execveat, fd, "", argv, merged, AT_EMPTY_PATH));
}

FTR_EXPORT int execveat(int fd, const char *path, strings argv, strings envp, int flags)
{
	MERGED_ENV(merged, envp);

	return result(ftr_sys5(SYS_execveat, fd, path, argv, merged, flags));
}

FTR_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, strings argv, strings envp)
{
	MERGED_ENV(merged, envp);

	return REAL(posix_spawn)(pid, path, actions, attr, argv, merged);
}

FTR_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, strings argv, strings envp)
{
	MERGED_ENV(merged, envp);

	return REAL(posix_spawnp)(pid, file, actions, attr, argv, merged);
}

/* The strings of a variable list up to and with its NULL. */
static size_t list_count(va_list ap)
{
	size_t nr = 1;

	while (va_arg(ap, char *) != NULL)
		nr++;
	return nr;
}

static void list_fill(char **argv, const char *first, size_t nr, va_list ap)
{
	size_t i;

	argv[0] = (char *)first;
	for (i = 1; i <= nr; i++)
		argv[i] = va_arg(ap, char *);
}

/* Declares @argv from the arguments behind @first; leaves ap_ behind its NULL. */
#define LISTED_ARGV(argv, first) \
	va_list ap_; \
	va_start(ap_, first); \
	size_t nr_ = list_count(ap_); \
	va_end(ap_); \
	char *argv[nr_ + 1]; \
	va_start(ap_, first); \
	list_fill(argv, first, nr_, ap_)

FTR_EXPORT int execl(const char *path, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	va_end(ap_);
	return execve(path, argv, environ);
}

FTR_EXPORT int execlp(const char *file, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	va_end(ap_);
	return execvpe(file, argv, environ);
}

FTR_EXPORT int execle(const char *path, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	strings envp = va_arg(ap_, strings);

	va_end(ap_);
	return execve(path, argv, envp);
}
