/* SPDX-License-Identifier: MIT */
/* See helper.h. */
#include "libmcount/helper.h"

#include <linux/sched.h>
#include <linux/wait.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "utils/base/rt/sys.h"

#define STACK_BYTES (64ul << 10)
#define FD_END 256

struct job {
	void (*fn)(void *arg);
	void *arg;
};

/* In the child.  No descriptor above the limit can be open, unless that was lowered. */
static void job_run(void *arg)
{
	const struct job *job = arg;
	long fd;

	if (ftr_sys6(SYS_close_range, 0, ~0u, 0, 0, 0, FTR_OWN_CALL) < 0) {
		for (fd = 0; fd < FD_END; fd++)
			ftr_sys_close_own(fd);
	}
	job->fn(job->arg);
}

/*
 * CLONE_UNTRACED: the child is the runtime's own, so the observer of system calls does not get to
 * see it.  Its calls that the observer's filter asks about are marked, for without an observer they
 * would fail.
 */
bool ftr_helper_run(void (*fn)(void *arg), void *arg)
{
	struct job job = { fn, arg };
	long stack, pid;

	if (ftr_is_blocked(FTR_SECCOMP_HELPER))
		return false;
	stack = ftr_sys_map(0, STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(stack))
		return false;
	pid = ftr_arch_clone_run(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED,
				 (char *)stack + STACK_BYTES, job_run, &job);
	if (pid > 0)
		ftr_sys4(SYS_wait4, pid, NULL, __WALL, NULL);
	ftr_sys2(SYS_munmap, stack, STACK_BYTES);
	return pid > 0;
}
