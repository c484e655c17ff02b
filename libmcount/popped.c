/* SPDX-License-Identifier: MIT */
/*
 * Returns on machines where a function may take arguments off the stack when it returns (i386: what
 * a structure is to be returned in, "ret $4"; stdcall).  Then the stack pointer does not tell where
 * the return address stood.
 *
 * The word below the stack pointer held it if there is our stub, or what is kept of a call there
 * (returns.h: a coroutine went on by a copy of the stub), and else the place of the newest call
 * that is a little lower and has the stub in it.  A handler may have overwritten both before we got
 * here: then the frames alone tell, that of just this place first.
 */
#include "libmcount/hook.h"
#include "libmcount/returns.h"
#include "libmcount/state.h"

#define POPPED_MAX 1024u		/* bytes of arguments that are taken off */

uintptr_t ftr_leave_popped(uintptr_t *below, const struct ftr_regs *regs) FTR_HIDDEN;

static bool may_be_popped(const uintptr_t *loc, const uintptr_t *below)
{
	uintptr_t popped = (uintptr_t)below - (uintptr_t)loc;

	return popped != 0 && popped <= POPPED_MAX && popped % sizeof(uintptr_t) == 0;
}

static __attribute__((noinline)) uintptr_t *popped_find(const struct ftr_thread *self,
						       uintptr_t *below)
{
	const struct ftr_frame *frame;
	uintptr_t *found = NULL;

	for (frame = self->top - 1; self->frames != NULL && frame >= self->frames; frame--) {
		if (ftr_frame_is_at(frame, below))
			return below;
		if (found == NULL && may_be_popped(frame->loc, below) &&
		    ftr_frame_is_at(frame, frame->loc))
			found = frame->loc;
		if ((uintptr_t)frame->loc - (uintptr_t)below <= POPPED_MAX)
			break;
	}
	return found != NULL ? found : below;
}

/* As ftr_leave; @below is the word below the stack pointer that the function left. */
uintptr_t ftr_leave_popped(uintptr_t *below, const struct ftr_regs *regs)
{
	const struct ftr_thread *self = &ftr_self;
	uintptr_t *loc = self->top[-1].loc;

	if (likely(loc == below))
		return ftr_leave(below, regs);
	if (!ftr_is_stub(*below) && ftr_return_find(below) != *below)
		below = popped_find(self, below);
	return ftr_leave(below, regs);
}
