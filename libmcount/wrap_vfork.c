/* SPDX-License-Identifier: MIT */
/*
 * vfork, whose system call is in arch/ISA/vfork.S, and clone of children that share memory.
 *
 * A child without thread-local storage of its own uses its parent's.  While the parent waits
 * (CLONE_VFORK) it is a task like others (vfork.h); otherwise neither is recorded any further.
 */
#include <sched.h>
#include <stdarg.h>

#include "libmcount/channel.h"
#include "libmcount/fork.h"
#include "libmcount/state.h"
#include "libmcount/untraced.h"
#include "libmcount/vfork.h"
long ftr_syscall_failed(long ret) FTR_HIDDEN;	/* wrap_prctl.c */
long ftr_vfork_end(long ret, struct ftr_vfork *vfork, uintptr_t *slot) FTR_HIDDEN;

/* After the system call, in each of the two; @slot holds the address that vfork returns to. */
long ftr_vfork_end(long ret, struct ftr_vfork *vfork, uintptr_t *slot)
{
	if (ret == 0)
		ftr_vfork_child(vfork);
	else
		ftr_vfork_parent(vfork);
	ftr_frame_returned(slot);
	return ret >= 0 ? ret : ftr_syscall_failed(ret);
}

/* On the stack of the parent, which waits. */
struct start {
	int (*fn)(void *);
	void *arg;
	struct ftr_vfork *vfork;
};

static int child_start(void *arg)
{
	const struct start start = *(const struct start *)arg;

	ftr_vfork_child(start.vfork);
	return start.fn(start.arg);
}

static void disarm_both(struct ftr_thread *self)
{
	if (self->producer == NULL || self->is_refused)
		return;
	if (!ftr_untraced_begin(self, FTR_UNTRACED_SHARED))
		ftr_channel_warn("shares thread-local storage with a child (clone without "
				 "CLONE_SETTLS); tracing of both stopped");
	ftr_thread_disarm(self);
}

FTR_EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	bool is_sharing = (flags & CLONE_VM) != 0 && (flags & CLONE_SETTLS) == 0;
	struct start start = { .fn = fn, .arg = arg };
	void *more[3];
	va_list ap;
	int i, ret;

	va_start(ap, arg);
	for (i = 0; i < 3; i++)
		more[i] = va_arg(ap, void *);
	va_end(ap);
	if (is_sharing && (flags & CLONE_VFORK) != 0 && fn != NULL)
		start.vfork = ftr_vfork_begin();
	else if (is_sharing)
		disarm_both(&ftr_self);
	if ((flags & CLONE_VM) == 0)
		ftr_fork_begin();
	if (start.vfork == NULL) {
		ret = REAL(clone)(fn, stack, flags, arg, more[0], more[1], more[2]);
		ftr_fork_end();
		return ret;
	}
	ret = REAL(clone)(child_start, stack, flags, &start, more[0], more[1], more[2]);
	ftr_vfork_parent(start.vfork);
	return ret;
}
