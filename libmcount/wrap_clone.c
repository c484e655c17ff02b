/* SPDX-License-Identifier: MIT */
/*
 * clone of a child that shares memory but has no thread-local storage of its own: it uses its
 * parent's shadow stack.  While the parent waits (CLONE_VFORK) that is right, and the calls that
 * the child left open are closed; otherwise neither is recorded any further.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"

FTR_EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	bool is_sharing = (flags & CLONE_VM) != 0 && (flags & CLONE_SETTLS) == 0;
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *top = self->top;
	void *more[3];
	va_list ap;
	int i, ret;

	va_start(ap, arg);
	for (i = 0; i < 3; i++)
		more[i] = va_arg(ap, void *);
	va_end(ap);
	if (is_sharing && (flags & CLONE_VFORK) == 0 && self->producer != NULL &&
	    !self->is_refused) {
		ftr_channel_warn("shares its thread-local storage with a child (clone without "
				 "CLONE_SETTLS): neither of the two is traced any further");
		ftr_thread_disarm(self);
	}
	ret = REAL(clone)(fn, stack, flags, arg, more[0], more[1], more[2]);
	while (is_sharing && self->top > top)
		ftr_frame_close(self, self->top - 1);
	return ret;
}
