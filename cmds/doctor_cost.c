/* SPDX-License-Identifier: MIT */
/*
 * What tracing a call costs: ftr, patched as it is, records calls of an empty function of its own
 * and tells how long they took.
 */
#include "cmds/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/clock.h"
#include "utils/patch/move.h"

#define SELF "/proc/self/exe"
#define CALLS "200000"
#define CALLS_NR 200000
#define BATCH 1000

extern char **environ;

/* Room for a jump, and nothing to be gained by putting it elsewhere. */
__attribute__((noinline)) static void empty_call(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
}

double ftr_call_time(uint64_t nr)
{
	void (*volatile callee)(void) = empty_call;
	uint64_t best = UINT64_MAX;

	for (uint64_t done = 0; done < nr; done += BATCH) {
		uint64_t start = ftr_clock_now_ns(CLOCK_MONOTONIC), took;

		for (unsigned i = 0; i < BATCH; i++)
			callee();
		took = ftr_clock_now_ns(CLOCK_MONOTONIC) - start;
		if (took < best)
			best = took;
	}
	return (double)best / BATCH;
}

/* The first object is the program itself. */
static int base_find(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	*(uintptr_t *)arg = info->dlpi_addr;
	return 1;
}

/* By name, and by its address in the file where ftr is stripped. */
static void pattern_make(char *text, size_t bytes)
{
	uintptr_t base = 0;

	dl_iterate_phdr(base_find, &base);
	snprintf(text, bytes, "^empty_call$;^<%" PRIxPTR ">$", (uintptr_t)empty_call - base);
}

/* Run @argv with its output read into @text; 0 when it exits with 0. */
static int output_read(char *const argv[], char *text, size_t bytes)
{
	posix_spawn_file_actions_t actions;
	int fds[2], status = -1;
	ssize_t len;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		close(fds[0]);
		close(fds[1]);
		return -ENOMEM;
	}
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	len = pid > 0 ? read(fds[0], text, bytes - 1) : 0;
	text[len > 0 ? len : 0] = '\0';
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? 0 : -ECHILD;
}

static void directory_remove(const char *dir)
{
	char *argv[] = { (char[]){ "/bin/rm" }, (char[]){ "-rf" }, (char[]){ "--" }, NULL, NULL };
	char none[1];

	argv[3] = (char *)dir;			/* which is not changed */
	output_read(argv, none, sizeof(none));
}

static int traced_time(const char *dir, double *ns)
{
	char data[512], pattern[80], text[64], exe[512], *end;
	ssize_t len = readlink(SELF, exe, sizeof(exe) - 1);
	char *argv[] = {
		exe, (char[]){ "record" }, (char[]){ "-d" }, data, (char[]){ "--no-event" },
		(char[]){ "--no-libcall" }, (char[]){ "-b" }, (char[]){ "512K" },
		(char[]){ "-P" }, pattern, exe, (char[]){ "doctor" },
		(char[]){ "--calls=" CALLS }, NULL,
	};

	if (len <= 0)
		return -errno;
	exe[len] = '\0';
	snprintf(data, sizeof(data), "%s/data", dir);
	pattern_make(pattern, sizeof(pattern));
	if (output_read(argv, text, sizeof(text)) < 0)
		return -ECHILD;
	*ns = strtod(text, &end);
	return end != text ? 0 : -EBADMSG;
}

int ftr_call_cost_measure(struct ftr_call_cost *cost, struct ftr_err *err)
{
	const char *top = getenv("TMPDIR");
	char dir[400];
	int ret;

	*cost = (struct ftr_call_cost){ 0 };
	if (!ftr_move_is_possible())
		return ftr_err_set(err, ENOTSUP, "ftr was built without a decoder to patch itself");
	snprintf(dir, sizeof(dir), "%s/ftr-doctor-XXXXXX", top != NULL ? top : "/tmp");
	if (mkdtemp(dir) == NULL)
		return ftr_err_set(err, errno, "%s: %s", dir, strerror(errno));
	cost->native_ns = ftr_call_time(CALLS_NR);
	ret = traced_time(dir, &cost->traced_ns);
	directory_remove(dir);
	if (ret < 0)
		return ftr_err_set(err, -ret, "ftr could not record itself");
	return 0;
}
