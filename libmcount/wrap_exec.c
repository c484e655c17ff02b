/* SPDX-License-Identifier: MIT */
/*
 * exec and posix_spawn: a new image is traced through LD_PRELOAD and FTR_CHANNEL, also when the
 * program hands on an environment of its own making.  What it hands on is kept; ours is added to
 * it.
 *
 * exec is allowed in signal handlers, on small stacks and after vfork, so the new environment is
 * built in memory of our own.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/environ.h"
#include "libmcount/gated.h"
#include "libmcount/scratch.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

static int result(long ret)
{
	if (ret >= 0)
		return (int)ret;
	errno = (int)-ret;
	return -1;
}

#define FD_PATH "/proc/self/fd/"
#define FD_DIGITS 12

/*
 * What waits is put, and the recorder checks the file: an image that cannot be preloaded into never
 * connects.
 */
static void announce(const char *file)
{
	ftr_gated_flush(&ftr_self);
	if (file != NULL)
		ftr_channel_send(FTR_CHANNEL_EXEC, file,
				 strchr(file, '/') == NULL ? getenv("PATH") : NULL);
}

/* "/proc/self/fd/FD", or "/proc/self/fd/FD/PATH". */
static void fd_path_make(char *to, int fd, const char *path)
{
	char digits[FD_DIGITS], *digit = digits;

	memcpy(to, FD_PATH, strlen(FD_PATH));
	to += strlen(FD_PATH);
	do
		*digit++ = (char)('0' + fd % 10);
	while ((fd /= 10) != 0);
	while (digit > digits)
		*to++ = *--digit;
	if (path[0] != '\0')
		*to++ = '/';
	memcpy(to, path, strlen(path) + 1);
}

static void announce_at(int fd, const char *path)
{
	char *name;

	if (path == NULL || path[0] == '/' || fd == AT_FDCWD) {
		announce(path);
		return;
	}
	if (fd < 0)
		return;
	name = ftr_scratch_take(strlen(FD_PATH) + FD_DIGITS + strlen(path) + 1);
	if (name == NULL)
		return;
	fd_path_make(name, fd, path);
	announce(name);
	ftr_scratch_put(name);
}

/*
 * Arguments and environment may fill all that exec takes (ulimit -s): then there is no room for
 * ours.  Said before, as there is no coming back.
 */
static bool must_do_without(bool is_too_big, ftr_strings merged, ftr_strings envp)
{
	if (!is_too_big || merged == envp)
		return false;
	ftr_channel_warn("runs exec with as many arguments as its limit allows, which leave no "
			 "room for ftr's; what it starts runs untraced; raise ulimit -s");
	return true;
}

FTR_EXPORT int execve(const char *path, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = ftr_environ_new(envp);
	long ret;

	announce(path);
	ret = ftr_sys3(SYS_execve, path, argv, merged);
	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys3(SYS_execve, path, argv, envp);
	ftr_environ_free(merged, envp);
	return result(ret);
}

FTR_EXPORT int execv(const char *path, ftr_strings argv)
{
	return execve(path, argv, environ);
}

FTR_EXPORT int execvpe(const char *file, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = ftr_environ_new(envp);
	int ret;

	announce(file);
	ret = REAL(execvpe)(file, argv, merged);
	if (must_do_without(ret < 0 && errno == E2BIG, merged, envp))
		ret = REAL(execvpe)(file, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

FTR_EXPORT int execvp(const char *file, ftr_strings argv)
{
	return execvpe(file, argv, environ);
}

FTR_EXPORT int fexecve(int fd, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = ftr_environ_new(envp);
	long ret;

	announce_at(fd, "");
	ret = ftr_sys5(SYS_execveat, fd, "", argv, merged, AT_EMPTY_PATH);
	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys5(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	ftr_environ_free(merged, envp);
	return result(ret);
}

FTR_EXPORT int execveat(int fd, const char *path, ftr_strings argv, ftr_strings envp, int flags)
{
	ftr_strings merged = ftr_environ_new(envp);
	long ret;

	announce_at(fd, path);
	ret = ftr_sys5(SYS_execveat, fd, path, argv, merged, flags);
	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys5(SYS_execveat, fd, path, argv, envp, flags);
	ftr_environ_free(merged, envp);
	return result(ret);
}

FTR_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = ftr_environ_new(envp);
	int ret;

	announce(path);
	ret = REAL(posix_spawn)(pid, path, actions, attr, argv, merged);
	if (must_do_without(ret == E2BIG, merged, envp))
		ret = REAL(posix_spawn)(pid, path, actions, attr, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

FTR_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = ftr_environ_new(envp);
	int ret;

	announce(file);
	ret = REAL(posix_spawnp)(pid, file, actions, attr, argv, merged);
	if (must_do_without(ret == E2BIG, merged, envp))
		ret = REAL(posix_spawnp)(pid, file, actions, attr, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

/* The ftr_strings of a variable list up to and with its NULL. */
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
	ftr_strings envp = va_arg(ap_, ftr_strings);

	va_end(ap_);
	return execve(path, argv, envp);
}
