/* SPDX-License-Identifier: MIT */
/*
 * See call.h: the kernel has decided how the call goes on before the thread stops, as on 64-bit
 * Arm.  One that is to be made again has its thread stopped at the instruction that makes it, with
 * the arguments that it had.  What is not shown: whether the thread has been in it, and two things
 * that the kernel does when the thread goes on from this very stop.  It makes the call fail with
 * EINTR if a handler is called, and one of a relative time limit it turns into restart_syscall.
 */
#include "utils/attach/call.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "arch/remote.h"
#include "utils/attach/image.h"
#include "utils/attach/remote.h"
#include "utils/attach/tracee.h"

#define ALL_SIGNALS UINT64_MAX
#define BEFORE 8u			/* instructions, within which its number is loaded */
#define FRAME_WORDS 1024u		/* of a handler that has come back, below the stack */
#define STOPS_MAX 64u			/* by signals, one after another */

/* Is it about to make a system call, be it again? */
static bool is_at_call(pid_t tid, const struct user_regs_struct *regs)
{
	uint32_t insn;

	return ftr_memory_read(tid, ftr_arch_regs_ip(regs), &insn, sizeof(insn)) &&
	       insn == FTR_ARCH_CALL_INSN;
}

static bool is_behind_call(pid_t tid, const struct user_regs_struct *regs)
{
	uint32_t insn;

	return ftr_memory_read(tid, ftr_arch_regs_ip(regs) - sizeof(insn), &insn, sizeof(insn)) &&
	       insn == FTR_ARCH_CALL_INSN;
}

long ftr_remote_syscall(pid_t tid)
{
	struct user_regs_struct regs;

	return ftr_arch_regs_get(tid, &regs) && is_at_call(tid, &regs) ?
		       (long)ftr_arch_call_number(&regs) : -1;
}

/* "NUMBER ARGUMENT*6 SP PC", "-1 SP PC", or "running". */
static bool wait_read(struct ftr_call *call, pid_t pid, pid_t tid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	return sscanf(line, "%ld %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &call->nr,
		      &call->arg, &call->sp, &call->ip) == 4;
}

void ftr_call_look(struct ftr_call *call, pid_t pid, pid_t tid)
{
	*call = (struct ftr_call){ .nr = -1 };
	if (!wait_read(call, pid, tid))
		call->nr = -1;
}

/*
 * The first argument, which the result has taken the place of: the kernel tells it with the call
 * that a thread is in, which it has just forgotten.
 */
static bool arg_find(pid_t tid, const struct user_regs_struct *regs, uint64_t *arg)
{
	struct ftr_call call;
	bool ret;

	if (!ftr_arch_call_change(tid, (int32_t)ftr_arch_call_number(regs)))
		return false;
	ret = wait_read(&call, tid, tid);
	ftr_arch_call_change(tid, -1);
	*arg = call.arg;
	return ret;
}

/* Was it in this call before it was asked to stop? */
static bool is_that(const struct ftr_call *call, const struct user_regs_struct *regs, uint64_t arg)
{
	return call->nr == (long)ftr_arch_call_number(regs) && call->arg == arg &&
	       call->ip == ftr_arch_regs_ip(regs) && call->sp == ftr_arch_regs_sp(regs);
}

/* ... by a handler that has come back, not by us: the program is to see that. */
static bool is_broken_by_handler(pid_t tid, const struct user_regs_struct *regs)
{
	uint64_t words[FRAME_WORDS];

	return ftr_memory_read(tid, ftr_arch_regs_sp(regs) - sizeof(words), words,
			       sizeof(words)) &&
	       ftr_arch_handler_came_back(regs, words, FRAME_WORDS);
}

void ftr_call_unbreak(struct ftr_call *call, pid_t tid)
{
	struct user_regs_struct regs;
	uint64_t arg;

	if (!ftr_arch_regs_get(tid, &regs) || ftr_arch_call_result(&regs) != -EINTR ||
	    !ftr_remote_is_broken((long)ftr_arch_call_number(&regs)) ||
	    !is_behind_call(tid, &regs) || !arg_find(tid, &regs, &arg))
		return;
	if (!is_that(call, &regs, arg) && is_broken_by_handler(tid, &regs))
		return;
	ftr_arch_call_again(&regs, arg);
	call->is_begun_again = ftr_arch_regs_set(tid, &regs);
}

static uint64_t signals_of(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 ? strtoull(line + len, NULL, 16) : 0;
}

/* Is a handler about to be called? */
static bool has_handler(pid_t pid, pid_t tid)
{
	uint64_t pending = 0, caught = 0, blocked = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		pending |= signals_of(line, "SigPnd:") | signals_of(line, "ShdPnd:");
		caught |= signals_of(line, "SigCgt:");
		blocked |= signals_of(line, "SigBlk:");
	}
	if (file != NULL)
		fclose(file);
	return (pending & caught & ~blocked) != 0;
}

/* The kernel does not know that it has been in a call. */
void ftr_call_release(const struct ftr_call *call, pid_t pid, pid_t tid)
{
	struct user_regs_struct regs;

	if (!call->is_begun_again || !has_handler(pid, tid) || !ftr_arch_regs_get(tid, &regs) ||
	    !is_at_call(tid, &regs))
		return;
	ftr_arch_call_ended(&regs, -EINTR);
	ftr_arch_regs_set(tid, &regs);
}

/* One that goes on with what is left of its time limit. */
static bool has_limit(const struct user_regs_struct *regs)
{
	uint64_t operation = ftr_arch_call_arg(regs, 1) & FUTEX_CMD_MASK;

	switch (ftr_arch_call_number(regs)) {
	case SYS_nanosleep:
		return true;
	case SYS_clock_nanosleep:
		return (ftr_arch_call_arg(regs, 1) & TIMER_ABSTIME) == 0;
	case SYS_futex:
		return (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
		       ftr_arch_call_arg(regs, 3) != 0;
	default:
		return false;
	}
}

/* At its call, or behind it as the time is over: its callers are the same, who hold no lock. */
static bool is_in_or_behind(const struct user_regs_struct *now, const struct user_regs_struct *was)
{
	uint64_t passed = ftr_arch_regs_ip(now) - ftr_arch_regs_ip(was);

	return (passed == 0 || passed == sizeof(uint32_t)) &&
	       ftr_arch_regs_sp(now) == ftr_arch_regs_sp(was);
}

/*
 * Let go, it makes its call again, or restart_syscall, as the kernel knows; and is stopped there.
 * In between it is in the hands of the kernel alone, whenever we die.
 */
int ftr_call_settle(pid_t tid)
{
	struct user_regs_struct regs, now;
	bool is_asked = false;
	int status;

	if (!ftr_arch_regs_get(tid, &regs))
		return -EAGAIN;
	if (!is_at_call(tid, &regs) || !has_limit(&regs))
		return 0;
	ptrace(PTRACE_SYSCALL, tid, 0, 0);
	for (;;) {
		if (ftr_tracee_wait(tid, &status, 0) < 0)
			return -EAGAIN;
		if (FTR_STATUS_EVENT(status) == PTRACE_EVENT_STOP) {
			if (WSTOPSIG(status) != SIGTRAP || is_asked)
				break;
			ptrace(PTRACE_SYSCALL, tid, 0, 0);
			continue;
		}
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		is_asked = true;
		ptrace(PTRACE_CONT, tid, 0, FTR_STATUS_EVENT(status) == 0 &&
		       WSTOPSIG(status) != (SIGTRAP | 0x80) ? WSTOPSIG(status) : 0);
	}
	return WSTOPSIG(status) == SIGTRAP && ftr_arch_regs_get(tid, &now) &&
	       is_in_or_behind(&now, &regs) ? 0 : -EAGAIN;
}

/* Who comes back from a handler has nothing that restart_syscall could go on with. */
void ftr_call_restart(pid_t tid, struct user_regs_struct *regs)
{
	uint32_t code[BEFORE];
	unsigned i;

	if (ftr_arch_call_number(regs) != SYS_restart_syscall || !is_at_call(tid, regs) ||
	    !ftr_memory_read(tid, ftr_arch_regs_ip(regs) - sizeof(code), code, sizeof(code)))
		return;
	for (i = BEFORE; i-- > 0;) {
		if (ftr_arch_call_loads(code[i]) >= 0) {
			ftr_arch_call_set_number(regs, (uint64_t)ftr_arch_call_loads(code[i]));
			return;
		}
	}
}

/*
 * Up to where it is in its call again.  From there on the kernel decides by itself: a signal that
 * came meanwhile ends it as it would have.  So such a signal waits until then, blocked.  (Let go
 * there, it looks for a signal at once, though there may be none: a call that a stop ends with
 * EINTR would do so again.)
 */
static void call_enter(pid_t tid, uint64_t mask)
{
	unsigned stops = 0;
	int status, signal = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, signal) < 0 ||
		    ftr_tracee_wait(tid, &status, 0) < 0)
			return;
		signal = 0;
		if (FTR_STATUS_EVENT(status) == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
			break;				/* until SIGCONT */
		if (FTR_STATUS_EVENT(status) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			const uint64_t all = ALL_SIGNALS;

			ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all);
			signal = WSTOPSIG(status);
		}
	} while (WSTOPSIG(status) != (SIGTRAP | 0x80) && ++stops < STOPS_MAX);
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

void ftr_call_resume(const struct ftr_call *call, pid_t tid, const struct user_regs_struct *regs,
		     uint64_t mask)
{
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	if (ftr_arch_regs_set(tid, regs) && is_at_call(tid, regs) && !call->is_begun_again)
		call_enter(tid, mask);
}
