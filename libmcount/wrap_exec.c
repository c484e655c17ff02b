/* SPDX-License-Identifier: MIT */
/*
 * exec and posix_spawn: a new image is traced through LD_PRELOAD and FTR_CHANNEL, also when the
 * program hands on an environment of its own making.  What it hands on is kept; ours is added to
 * it.
 *
 * exec is allowed in signal handlers, on small stacks and after vfork, so the new environment is
 * built in memory of our own.
 *
 * A recorder that attached to programs leaves them before they end: then the environment is
 * untouched unless it has just said that the file loads the runtime (FTR_CHANNEL_ASKS_EXEC).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmcount/channel.h"
#include "libmcount/environ.h"
#include "libmcount/exec.h"
#include "libmcount/gated.h"
#include "libmcount/looking.h"
#include "libmcount/readable.h"
#include "libmcount/scratch.h"
#include "libmcount/state.h"
#include "libmcount/tried.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/attach.h"

static int result(long ret)
{
	if (ret >= 0)
		return (int)ret;
	errno = (int)-ret;
	return -1;
}

#define FD_PATH "/proc/self/fd/"
#define FD_DIGITS 12
#define PATH_DEFAULT "/bin:/usr/bin"	/* libc's, where PATH is not set */

/*
 * As long as a thread has one that is counted, a program that was attached to is not left
 * (doc/adr/0085): the thread may use what the recording has.
 */
struct hold {
	bool is_counted, is_blocking;
	uint64_t signals;		/* blocked meanwhile: a handler could jump out */
};

static void hold_end(const struct hold *hold)
{
	if (hold->is_counted)
		ftr_looking_end();
	if (hold->is_blocking)
		ftr_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &hold->signals, NULL,
			 sizeof(hold->signals));
}

/* A child of a vfork that was there before is a process of its own: nothing waits for it. */
static bool is_stranger(void)
{
	return !ftr_self.is_vforked && ftr_thread_is_anothers((int32_t)ftr_sys0(SYS_gettid));
}

/*
 * May new images be traced?  To be ended in either case.  A program that keeps the address of one
 * of ours comes here also when it has been left, or is: then it is not counted, as the number is
 * about to be forgotten.
 */
static bool hold_begin(struct hold *hold)
{
	uint64_t all = UINT64_MAX;

	*hold = (struct hold){ .is_counted = false };
	if (ftr_state.late == NULL)
		return true;		/* launched: the recording stays */
	if (ftr_state.attached != FTR_ATTACH_ATTACHED || !ftr_state.asks_exec || ftr_is_silent() ||
	    is_stranger())
		return false;
	ftr_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &hold->signals, sizeof(all));
	hold->is_blocking = true;
	if (ftr_state.attached == FTR_ATTACH_ATTACHED) {
		ftr_looking_begin();
		hold->is_counted = true;
	}
	return hold->is_counted && ftr_state.attached == FTR_ATTACH_ATTACHED;
}

/* A file that is about to be run. */
struct target {
	const char *name;	/* as the recorder finds it (nullable) */
	const char *dirs;	/* in the first of which it is, as in PATH; NULL: as it is named */
	int dir;		/* a descriptor, or AT_FDCWD, */
	const char *path;	/* and where that is seen from there */
};

/* What exec itself takes: a bare name is one of the working directory. */
static struct target target_named(const char *path)
{
	bool is_bare;

	if (!ftr_is_readable(path))
		return (struct target){ .name = NULL };	/* exec will fail */
	is_bare = strchr(path, '/') == NULL;
	return (struct target){ path, is_bare ? "." : NULL, AT_FDCWD, path };
}

static struct target target_searched(const char *file)
{
	struct target target = target_named(file);

	if (target.dirs == NULL)
		return target;
	target.dirs = getenv("PATH");
	if (target.dirs == NULL)
		target.dirs = PATH_DEFAULT;
	return target;
}

/*
 * What waits is put, and the recorder checks the file unless it is known: an image that cannot be
 * preloaded into never connects.  Returns what it says, FTR_CHANNEL_LOADS and more.
 */
static uint64_t announce(const struct target *target)
{
	uint64_t loads;

	ftr_gated_flush(&ftr_self);
	if (target->name == NULL)
		return 0;
	if (ftr_tried_look(target->dir, target->path, target->dirs, &loads))
		return loads;
	return ftr_channel_send(FTR_CHANNEL_EXEC, target->name, target->dirs);
}

/* May an image of which the recorder says @loads get our variables? */
static bool gets_ours(uint64_t loads)
{
	return !ftr_state.asks_exec ||
	       ((loads & FTR_CHANNEL_LOADS) != 0 && ftr_environ_has_runtime());
}

/* What @target gets for @envp; released by ftr_environ_free. */
static ftr_strings environ_for(const struct target *target, ftr_strings envp)
{
	ftr_strings merged = envp;
	struct hold hold;
	uint64_t loads;

	if (hold_begin(&hold)) {
		loads = announce(target);
		if (gets_ours(loads))
			merged = ftr_environ_new(envp, loads);
	}
	hold_end(&hold);
	return merged;
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

/* Likewise, of the file @path seen from @fd. */
static ftr_strings environ_for_at(int fd, const char *path, ftr_strings envp)
{
	struct target target = target_named(path);
	ftr_strings merged;
	char *name;

	if (target.name == NULL || path[0] == '/' || fd == AT_FDCWD)
		return environ_for(&target, envp);
	name = fd < 0 ? NULL : ftr_scratch_take(strlen(FD_PATH) + FD_DIGITS + strlen(path) + 1);
	target = (struct target){ .name = name, .dir = fd, .path = path };
	if (name != NULL)
		fd_path_make(name, fd, path);
	merged = environ_for(&target, envp);
	ftr_scratch_put(name);
	return merged;
}

/*
 * Arguments and environment may fill all that exec takes (ulimit -s): then there is no room for
 * ours.  Said before, as there is no coming back.
 */
static bool must_do_without(bool is_too_big, ftr_strings merged, ftr_strings envp)
{
	struct hold hold;

	if (!is_too_big || merged == envp)
		return false;
	if (hold_begin(&hold))
		ftr_channel_warn("runs exec with as many arguments as its limit allows, which "
				 "leave no room for ftr's; what it starts runs untraced; raise "
				 "ulimit -s");
	hold_end(&hold);
	return true;
}

int ftr_exec(const char *path, ftr_strings argv, ftr_strings envp)
{
	struct target target = target_named(path);
	ftr_strings merged = environ_for(&target, envp);
	long ret = ftr_sys3(SYS_execve, path, argv, merged);

	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys3(SYS_execve, path, argv, envp);
	ftr_environ_free(merged, envp);
	return result(ret);
}

FTR_EXPORT int execve(const char *path, ftr_strings argv, ftr_strings envp)
{
	return ftr_exec(path, argv, envp);
}

FTR_EXPORT int execv(const char *path, ftr_strings argv)
{
	return ftr_exec(path, argv, environ);
}

static int exec_search(const char *file, ftr_strings argv, ftr_strings envp)
{
	struct target target = target_searched(file);
	ftr_strings merged = environ_for(&target, envp);
	int ret = REAL(execvpe)(file, argv, merged);

	if (must_do_without(ret < 0 && errno == E2BIG, merged, envp))
		ret = REAL(execvpe)(file, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

FTR_EXPORT int execvpe(const char *file, ftr_strings argv, ftr_strings envp)
{
	return exec_search(file, argv, envp);
}

FTR_EXPORT int execvp(const char *file, ftr_strings argv)
{
	return exec_search(file, argv, environ);
}

FTR_EXPORT int fexecve(int fd, ftr_strings argv, ftr_strings envp)
{
	ftr_strings merged = environ_for_at(fd, "", envp);
	long ret = ftr_sys5(SYS_execveat, fd, "", argv, merged, AT_EMPTY_PATH);

	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys5(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH);
	ftr_environ_free(merged, envp);
	return result(ret);
}

int ftr_exec_at(int fd, const char *path, ftr_strings argv, ftr_strings envp, int flags)
{
	ftr_strings merged = environ_for_at(fd, path, envp);
	long ret = ftr_sys5(SYS_execveat, fd, path, argv, merged, flags);

	if (must_do_without(ret == -E2BIG, merged, envp))
		ret = ftr_sys5(SYS_execveat, fd, path, argv, envp, flags);
	ftr_environ_free(merged, envp);
	return result(ret);
}

FTR_EXPORT int execveat(int fd, const char *path, ftr_strings argv, ftr_strings envp, int flags)
{
	return ftr_exec_at(fd, path, argv, envp, flags);
}

FTR_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, ftr_strings argv, ftr_strings envp)
{
	struct target target = target_named(path);
	ftr_strings merged = environ_for(&target, envp);
	int ret = REAL(posix_spawn)(pid, path, actions, attr, argv, merged);

	if (must_do_without(ret == E2BIG, merged, envp))
		ret = REAL(posix_spawn)(pid, path, actions, attr, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

FTR_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, ftr_strings argv, ftr_strings envp)
{
	struct target target = target_searched(file);
	ftr_strings merged = environ_for(&target, envp);
	int ret = REAL(posix_spawnp)(pid, file, actions, attr, argv, merged);

	if (must_do_without(ret == E2BIG, merged, envp))
		ret = REAL(posix_spawnp)(pid, file, actions, attr, argv, envp);
	ftr_environ_free(merged, envp);
	return ret;
}

/*
 * The ftr_strings of a variable list up to and with its NULL.  By its address: what a function that
 * gets a list takes from it, its caller's list has not lost on each machine.
 */
static size_t list_count(va_list *ap)
{
	size_t nr = 1;

	while (va_arg(*ap, char *) != NULL)
		nr++;
	return nr;
}

static void list_fill(char **argv, const char *first, size_t nr, va_list *ap)
{
	size_t i;

	argv[0] = (char *)first;
	for (i = 1; i <= nr; i++)
		argv[i] = va_arg(*ap, char *);
}

/* Declares @argv from the arguments behind @first; leaves ap_ behind its NULL. */
#define LISTED_ARGV(argv, first) \
	va_list ap_; \
	va_start(ap_, first); \
	size_t nr_ = list_count(&ap_); \
	va_end(ap_); \
	char *argv[nr_ + 1]; \
	va_start(ap_, first); \
	list_fill(argv, first, nr_, &ap_)

FTR_EXPORT int execl(const char *path, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	va_end(ap_);
	return ftr_exec(path, argv, environ);
}

FTR_EXPORT int execlp(const char *file, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	va_end(ap_);
	return exec_search(file, argv, environ);
}

FTR_EXPORT int execle(const char *path, const char *arg, ...)
{
	LISTED_ARGV(argv, arg);
	ftr_strings envp = va_arg(ap_, ftr_strings);

	va_end(ap_);
	return ftr_exec(path, argv, envp);
}
