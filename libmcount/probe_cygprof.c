/* SPDX-License-Identifier: MIT */
/*
 * -finstrument-functions: the compiler calls us at entry and exit, and no return address is
 * touched.  Inlined functions are reported as well, several of them with one stack frame.
 */
#include "arch/prologue.h"
#include "libmcount/frames.h"
#include "libmcount/gate.h"
#include "libmcount/hook.h"
#include "libmcount/leave.h"
#include "libmcount/probe.h"
#include "libmcount/stacks.h"
#include "libmcount/unwinding.h"
#include "utils/base/rt/sys.h"

/* Where the caller of the caller stood; grows with each return, so it orders the open calls. */
#define CALLERS_LOC(site) \
	ftr_arch_cygprof_loc((uintptr_t *)__builtin_dwarf_cfa(), (uintptr_t)(site))

extern const struct ftr_probe ftr_probe_cygprof FTR_HIDDEN;
FTR_EXPORT void __cyg_profile_func_enter(void *func, void *call_site);
FTR_EXPORT void __cyg_profile_func_exit(void *func, void *call_site);

void __cyg_profile_func_enter(void *func, void *call_site)
{
	ftr_enter_cygprof(CALLERS_LOC(call_site), (uintptr_t)func, (uintptr_t)call_site);
}

void __cyg_profile_func_exit(void *func, void *call_site)
{
	ftr_leave_cygprof((uintptr_t)func, CALLERS_LOC(call_site));
}

/* Find the call that ends.  Frames above it on its stack were left by a jump or an exception. */
static struct ftr_frame *cygprof_find(struct ftr_thread *self, uintptr_t func,
				      const uintptr_t *cfa)
{
	uintptr_t low = 0, high = UINTPTR_MAX;
	struct ftr_frame *frame;

	if (self->stacks != NULL)
		ftr_stacks_bounds(self, cfa, &low, &high);
	for (frame = self->top - 1; self->frames != NULL && frame >= self->frames; frame--) {
		uintptr_t loc = (uintptr_t)frame->loc;

		if (frame->func == func && frame->kind == FTR_FRAME_CYGPROF && loc != 0 &&
		    loc >= low && loc <= high)
			return frame;
	}
	return NULL;
}

__attribute__((noinline, cold)) void ftr_leave_cygprof_slow(uintptr_t func, const uintptr_t *cfa)
{
	struct ftr_thread *self = &ftr_self;
	struct ftr_frame *frame;

	if (self->uncounted != 0) {
		self->uncounted--;
		return;
	}
	if (self->gate != NULL && self->gate->recovering == cfa)
		ftr_recover_end(self, cfa);
	if (self->stacks == NULL && ftr_frame_pop(func, FTR_FRAME_CYGPROF))
		return;
	frame = cygprof_find(self, func, cfa);
	if (frame == NULL)
		return;		/* entered before tracing began */
	ftr_frames_abandon(self, frame, cfa, true);
	ftr_frame_close(self, frame);
	if (self->top > frame)
		ftr_frames_count_hole(self);
}

const struct ftr_probe ftr_probe_cygprof = { .name = "cygprof" };
