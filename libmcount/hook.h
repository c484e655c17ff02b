/* SPDX-License-Identifier: MIT */
/* The hook: all probes report entries and exits to it. */
#ifndef FTR_LIBMCOUNT_HOOK_H
#define FTR_LIBMCOUNT_HOOK_H

#include "libmcount/thread.h"
#include "utils/proto/shadow.h"

struct ftr_regs;		/* arch/regs.h: what the trampolines saved */

#define FTR_HIDDEN __attribute__((visibility("hidden")))
#define FTR_EXPORT __attribute__((visibility("default")))

/* What names the call of the function that this stands in. */
#define FTR_CALL_LOC() ((uintptr_t *)__builtin_dwarf_cfa() - 1)

/*
 * Where replaced return addresses lead: stub n belongs to the thread of ftr_unwind_slots[n],
 * which is how an unwinder finds the true address (arch/return_stubs.h).
 */
#define FTR_STUB_SHARED 1		/* by the threads beyond the last */
extern const char ftr_return_stubs[] FTR_HIDDEN;
struct ftr_unwind_slot {
	FTR_PLACED struct ftr_slot *slot;
};
static_assert(sizeof(struct ftr_unwind_slot) == sizeof(uint64_t), "as utils/proto/shadow.h says");
extern struct ftr_unwind_slot ftr_unwind_slots[FTR_STUB_NR] FTR_HIDDEN;

static inline bool ftr_is_stub(uintptr_t address)
{
	return address - (uintptr_t)ftr_return_stubs < FTR_STUB_NR * FTR_STUB_BYTES;
}

/*
 * A function that will return through *@slot was called; @addr is the address recorded for it, in a
 * module that the recorder knows of.  Replaces *@slot by the thread's stub unless the call is
 * declined.
 */
void ftr_enter_known(uintptr_t *slot, uintptr_t addr) FTR_HIDDEN;

/* A call by way of stub @n of a hooked entry (arch/ISA/plt.S); answers with where it leads. */
uintptr_t ftr_plt_enter(uintptr_t n, uintptr_t *slot, const struct ftr_regs *regs) FTR_HIDDEN;

/*
 * The same for -pg, where @slot may be a copy (realigned stacks), and @child_ip lies in any module.
 */
void ftr_enter_mcount(uintptr_t *slot, uintptr_t child_ip, const struct ftr_regs *regs)
	FTR_HIDDEN;

/*
 * The same for -pg on machines where the function is past its prologue, of which @said tells where
 * the frame ends (arch/ISA/prologues.h).  @record: the saved frame pointer, and the return address.
 */
void ftr_enter_behind(uintptr_t *record, uintptr_t child_ip, uint64_t said) FTR_HIDDEN;

/*
 * The same for -mfentry, where a nested function's static @chain may lie before the return address.
 */
void ftr_enter_fentry(uintptr_t *slot, uintptr_t child_ip, const struct ftr_regs *regs,
		      uintptr_t chain) FTR_HIDDEN;

/* The function whose return address stood in *@slot has returned; answers with that address. */
uintptr_t ftr_leave(uintptr_t *slot, const struct ftr_regs *regs) FTR_HIDDEN;

/* With estimated returns: record the ends of the calls that have returned by now. */
void ftr_frames_end(void) FTR_HIDDEN;

/* A call whose return address must stay: recorded as if it returned at once. */
void ftr_point(uintptr_t *loc, uintptr_t func) FTR_HIDDEN;

/* Open a frame of @kind and record its ENTRY; false when the call is declined. */
bool ftr_frame_open(uintptr_t *loc, uintptr_t func, enum ftr_frame_kind kind) FTR_HIDDEN;

/*
 * -finstrument-functions: @func was called (from @site), or returns, where @loc (or @cfa) lies.
 */
void ftr_enter_cygprof(uintptr_t *loc, uintptr_t func, uintptr_t site) FTR_HIDDEN;
void ftr_leave_cygprof(uintptr_t func, const uintptr_t *cfa) FTR_HIDDEN;
/* The same when the call is not the top frame, in probe_cygprof.c. */
void ftr_leave_cygprof_slow(uintptr_t func, const uintptr_t *cfa) FTR_HIDDEN;

/* Close the top frame if it is @func's; false when it is not. */
bool ftr_frame_pop(uintptr_t func, enum ftr_frame_kind kind) FTR_HIDDEN;

/*
 * A library call whose return address was left in @slot returns now, to a wrapper of ours.  Nothing
 * happens unless it is recorded.
 */
void ftr_frame_returned(const uintptr_t *slot) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_HOOK_H */
