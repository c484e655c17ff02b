/* SPDX-License-Identifier: MIT */
/*
 * The system call that a thread waits in, and what becomes of it when the thread is stopped: most
 * go on as if nothing had been, which the kernel sees to; the program is to see nothing of the
 * others, either.
 *
 * There are two of this, of which the machine has one (doc/adr/0109).  call_shown.c: the registers
 * of the stopped thread say what it was in, and when it goes on the kernel decides by them.
 * call_hidden.c: the kernel has decided before the thread stops, and says neither which nor what.
 */
#ifndef FTR_ATTACH_CALL_H
#define FTR_ATTACH_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* What is known of a thread's call. */
struct ftr_call {
	long nr;		/* before it was asked to stop; -1 = it was not seen to wait */
	uint64_t arg, ip, sp;
	bool is_begun_again;	/* it ended with EINTR as the thread was stopped */
};

/* Before the thread is asked to stop. */
void ftr_call_look(struct ftr_call *call, pid_t pid, pid_t tid);

/*
 * The thread has stopped.  A few calls end with EINTR then, and the program is not to see that:
 * they are begun again, unless a handler is called.
 */
void ftr_call_unbreak(struct ftr_call *call, pid_t tid);

/* It is about to run on, traced by nobody. */
void ftr_call_release(const struct ftr_call *call, pid_t pid, pid_t tid);

/*
 * The stopped thread is to be borrowed: learn of its registers all that its call needs to go on
 * later.  0; -EAGAIN: it has gone on, and may be stopped elsewhere or run.
 */
int ftr_call_settle(pid_t tid);

/* @regs of the stopped thread as they are for one that begins its call, if any, anew. */
void ftr_call_restart(pid_t tid, struct user_regs_struct *regs);

/* The stopped thread gets @mask and @regs back, and goes on with its call when it is released. */
void ftr_call_resume(const struct ftr_call *call, pid_t tid, const struct user_regs_struct *regs,
		     uint64_t mask);

#endif /* FTR_ATTACH_CALL_H */
