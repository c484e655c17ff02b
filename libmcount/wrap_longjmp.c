/* SPDX-License-Identifier: MIT */
/*
 * longjmp: the calls that it leaves end here.  (Other ways of leaving calls are noticed when the
 * next call begins or ends, see ftr_frames_abandon in leave.c.)
 *
 * Where longjmp and its setjmp are both recorded, a second EXIT of setjmp, at its depth, stands for
 * all the EXITs of what was left: so uftrace records it, and so it expects it.
 */
#undef _FORTIFY_SOURCE		/* would rename what is defined here */
#include <setjmp.h>

#include "arch/jmpbuf.h"
#include "libmcount/hook.h"
#include "libmcount/jump_sites.h"
#include "libmcount/leave.h"
#include "libmcount/state.h"

#define NORETURN __attribute__((noreturn))

FTR_EXPORT NORETURN void __longjmp_chk(struct __jmp_buf_tag buf[1], int value);

static bool is_on_signal_stack(const struct ftr_thread *self, const uintptr_t *loc)
{
	return (uintptr_t)loc - self->signal_low < self->signal_bytes;
}

/* Is the call at @loc, not below any that stays, left by a jump to @sp? */
static bool is_left(const struct ftr_thread *self, const uintptr_t *loc, const uintptr_t *sp)
{
	if (loc == NULL || loc < sp)
		return true;
	return is_on_signal_stack(self, loc) && !is_on_signal_stack(self, sp);
}

static bool is_known_stack(const struct ftr_thread *self, const uintptr_t *loc)
{
	return loc == NULL || ftr_frame_is_home(self, loc) || is_on_signal_stack(self, loc);
}

/*
 * Take back the EXITs of the calls that a jump to @sp leaves; false when some of the calls above
 * @sp are a coroutine's, which are not left, or deeper than a record can say.
 */
static bool exits_take_back(struct ftr_thread *self, const uintptr_t *sp)
{
	struct ftr_frame *until = self->top, *frame;

	while (until > self->frames && is_left(self, until[-1].loc, sp)) {
		until--;
		if (!is_known_stack(self, until->loc))
			return false;
	}
	if ((uint64_t)(until - self->frames) >= FTR_RECORD_DEPTH_MAX ||
	    (until > self->frames && !is_known_stack(self, until[-1].loc)))
		return false;
	for (frame = until; frame < self->top; frame++)
		frame->is_begun = false;
	return true;
}

static void exit_put(struct ftr_thread *self, uintptr_t addr)
{
	unsigned depth = (unsigned)(self->top - self->frames);

	ftr_record_put(self, ftr_record_word(FTR_RECORD_EXIT, depth, addr), NULL, 0);
}

/* The wrapper was called by @slot, and the jump is to @sp. */
static void frames_jumped(const struct __jmp_buf_tag *buf, const uintptr_t *slot)
{
	const uintptr_t *sp = (const uintptr_t *)ftr_arch_jmpbuf_sp(buf);
	struct ftr_thread *self = &ftr_self;
	uintptr_t setjmp_addr = 0;

	if (self->jumping == self->top - 1 && self->top[-1].loc == slot &&
	    self->estimate_end == NULL && self->gate == NULL && self->stacks == NULL &&
	    is_known_stack(self, sp))
		setjmp_addr = ftr_jump_site_find(ftr_arch_jmpbuf_ip(buf));
	if (setjmp_addr != 0 && !exits_take_back(self, sp))
		setjmp_addr = 0;
	ftr_frames_jumped(sp);
	if (setjmp_addr != 0)
		exit_put(self, setjmp_addr);
}

static NORETURN void jump(void (*real)(struct __jmp_buf_tag *, int), struct __jmp_buf_tag *buf,
			  int value, const uintptr_t *slot)
{
	frames_jumped(buf, slot);
	real(buf, value);
	__builtin_unreachable();
}

FTR_EXPORT NORETURN void longjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(REAL(longjmp), buf, value, FTR_CALL_LOC());
}

FTR_EXPORT NORETURN void _longjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(REAL(longjmp), buf, value, FTR_CALL_LOC());
}

FTR_EXPORT NORETURN void siglongjmp(struct __jmp_buf_tag buf[1], int value)
{
	jump(REAL(longjmp), buf, value, FTR_CALL_LOC());
}

/* With _FORTIFY_SOURCE; refuses to jump down the stack, so it is not the same function. */
void __longjmp_chk(struct __jmp_buf_tag buf[1], int value)
{
	jump(REAL(__longjmp_chk), buf, value, FTR_CALL_LOC());
}
