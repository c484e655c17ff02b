/* SPDX-License-Identifier: MIT */
/* See call.h: the registers say it, as on x86-64. */
#include "utils/attach/call.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "arch/remote.h"
#include "utils/attach/remote.h"

/* What a call left by a stop has in rax, of <linux/errno.h>. */
#define ERESTARTSYS	512
#define ERESTARTNOINTR	513
#define ERESTARTNOHAND	514
#define ERESTART_RESTARTBLOCK 516

long ftr_remote_syscall(pid_t tid)
{
	struct user_regs_struct regs;

	return ftr_arch_regs_get(tid, &regs) ? (long)regs.orig_rax : -1;
}

void ftr_call_look(struct ftr_call *call, pid_t pid, pid_t tid)
{
}

void ftr_call_unbreak(struct ftr_call *call, pid_t tid)
{
	struct user_regs_struct regs;

	if (ftr_arch_regs_get(tid, &regs) && (long)regs.orig_rax >= 0 &&
	    (long)regs.rax == -EINTR && ftr_remote_is_broken((long)regs.orig_rax)) {
		regs.rax = (uint64_t)-(long)ERESTARTNOHAND;
		ftr_arch_regs_set(tid, &regs);
	}
}

void ftr_call_release(const struct ftr_call *call, pid_t pid, pid_t tid)
{
}

int ftr_call_settle(pid_t tid)
{
	return 0;
}

void ftr_call_restart(pid_t tid, struct user_regs_struct *regs)
{
	long left = (long)regs->rax;

	if ((long)regs->orig_rax < 0)
		return;
	if (left == -ERESTARTSYS || left == -ERESTARTNOINTR || left == -ERESTARTNOHAND ||
	    left == -ERESTART_RESTARTBLOCK) {
		regs->rip -= FTR_ARCH_CALL_BEHIND;
		regs->rax = regs->orig_rax;
	}
}

/*
 * The registers last: up to then it leaves the frame if we die, from then on it does what it did.
 * Stopped like this the kernel decides anew how a call that was left goes on.
 */
void ftr_call_resume(const struct ftr_call *call, pid_t tid, const struct user_regs_struct *regs,
		     uint64_t mask)
{
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	ftr_arch_regs_set(tid, regs);
}
