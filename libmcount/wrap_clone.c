/* SPDX-License-Identifier: MIT */
/*
 * clone of a child that shares memory but has no thread-local storage of its own: it would go on in
 * its parent's shadow stack.  As long as the parent waits (CLONE_VFORK) that is in order, and what
 * the child left open is closed; otherwise neither is recorded any more.
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
		ftr_channel_warn("clone gave a child its memory and its thread-local storage: "
				 "neither of the two is traced from here on");
		ftr_thread_disarm(self);
	}
	ret = REAL(clone)(fn, stack, flags, arg, more[0], more[1], more[2]);
	while (is_sharing && self->top > top)
		ftr_frame_close(self, self->top - 1);
	return ret;
}
