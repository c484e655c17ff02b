/* SPDX-License-Identifier: MIT */
/*
 * -finstrument-functions: the compiler calls us at entry and exit, and no return address is
 * touched.  Inlined functions are reported as well, several of them with one stack frame.
 */
#include "libmcount/hook.h"
#include "libmcount/probe.h"
#include "utils/base/rt/sys.h"

/* Where the caller of the caller stood; grows with each return, so it orders the open calls. */
#define CALLERS_CFA() ((uintptr_t *)__builtin_frame_address(0) + 2)

extern const struct ftr_probe ftr_probe_cygprof FTR_HIDDEN;
FTR_EXPORT void __cyg_profile_func_enter(void *func, void *call_site);
FTR_EXPORT void __cyg_profile_func_exit(void *func, void *call_site);

void __cyg_profile_func_enter(void *func, void *call_site)
{
	if (unlikely(!ftr_arch_is_relocated(ftr_self)))
		return;
	if (unlikely(!ftr_frame_open(CALLERS_CFA(), (uintptr_t)func, FTR_FRAME_CYGPROF)))
		ftr_self.uncounted++;
	else if (unlikely(ftr_self.uncounted != 0))
		ftr_self.uncounted = 0;	/* there is room again: they were jumped out of */
}

/* Find the call that ends.  Frames above it on its stack were left by a jump or an exception. */
static struct ftr_frame *cygprof_find(struct ftr_thread *self, uintptr_t func)
{
	struct ftr_frame *frame;

	for (frame = self->top - 1; self->frames != NULL && frame >= self->frames; frame--) {
		if (frame->func == func && frame->kind == FTR_FRAME_CYGPROF && frame->loc != NULL)
			return frame;
	}
	return NULL;
}

static __attribute__((noinline, cold)) void exit_slow(struct ftr_thread *self, uintptr_t func,
						     const uintptr_t *cfa)
{
	struct ftr_frame *frame;

	if (self->uncounted != 0) {
		self->uncounted--;
		return;
	}
	frame = cygprof_find(self, func);
	if (frame == NULL)
		return;		/* entered before tracing began */
	ftr_frames_abandon(self, frame, cfa, true);
	ftr_frame_close(self, frame);
}

void __cyg_profile_func_exit(void *func, void *call_site)
{
	if (unlikely(!ftr_arch_is_relocated(ftr_self)))
		return;
	if (unlikely(ftr_self.uncounted != 0 ||
		     !ftr_frame_pop((uintptr_t)func, FTR_FRAME_CYGPROF)))
		exit_slow(&ftr_self, (uintptr_t)func, CALLERS_CFA());
}

const struct ftr_probe ftr_probe_cygprof = { .name = "cygprof" };
