/* SPDX-License-Identifier: MIT */
/*
 * C++ exceptions.  Unwinders pass through the return stubs (arch/ISA/mcount.S), but each costs them
 * several times what a frame does.  So the nearest calls get their true return addresses back while
 * an exception is under way, and those that it did not end get their stubs again where it is
 * caught.  What is not put back, or never hooked again, is right all the same: the unwinder passes
 * the stub, or the function returns without a hook, and its EXIT is recorded at the next call.
 *
 * libgcc finds the frame of the handler again by its CFA and by whether it came there through a
 * stub (a signal frame to it).  So which calls are bare does not change while any exception is
 * under way, cleanups that throw and catch others included.  doc/adr/0035
 */
#include "libmcount/unwinding.h"

#include <dlfcn.h>
#include <link.h>

#include "libmcount/gate.h"
#include "libmcount/hook.h"
#include "libmcount/leave.h"
#include "libmcount/plt_bind.h"
#include "libmcount/stacks.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* Exceptions are mostly caught near; putting back costs a nanosecond a frame. */
#define BARE_MAX 256

static const char *const names[FTR_UNWIND_CALLS] = {
	[FTR_UNWIND_RAISE] = "_Unwind_RaiseException",
	[FTR_UNWIND_RETHROW] = "_Unwind_Resume_or_Rethrow",
	[FTR_UNWIND_CATCH] = "__cxa_begin_catch",
	[FTR_UNWIND_GLOBALS] = "__cxa_get_globals",
	[FTR_UNWIND_CONTEXT] = "makecontext",
};

/* What __cxa_get_globals answers with (Itanium C++ ABI, 2.2.2). */
struct globals {
	void *caught;
	unsigned uncaught;		/* exceptions under way */
};

/* A weak reference that was NULL without us: _URC_END_OF_STACK, no handler catches it. */
static int no_unwinder(void)
{
	return 5;
}

static const struct link_map *map_of(uintptr_t address)
{
	return ftr_plt_map_of((const void *)address);
}

/*
 * By the rules that bound the caller's reference to ours: first the global scope, then that of
 * the caller's library, which is not remembered because it may be closed.
 */
static void *real_find(enum ftr_unwind_call call, uintptr_t caller)
{
	void *real = atomic_load_explicit(&ftr_state.unwind.real[call], memory_order_acquire);

	if (real != NULL)
		return real;
	real = dlsym(RTLD_NEXT, names[call]);
	if (real == NULL)
		return ftr_real_in_scope(names[call], caller);
	atomic_store_explicit(&ftr_state.unwind.real[call], real, memory_order_release);
	return real;
}

/* Exceptions of the calling thread that are under way; 0 = there is no such runtime. */
static unsigned uncaught_nr(uintptr_t caller)
{
	struct globals *(*get)(void) =
		(struct globals *(*)(void))real_find(FTR_UNWIND_GLOBALS, caller);

	return get != NULL ? get()->uncaught : 0;
}

/*
 * Does the runtime of C++ that throws call our __cxa_begin_catch when the exception has arrived?
 * Not one that is linked statically: then nothing would hook its calls again.
 */
static bool caller_look(uintptr_t caller)
{
	uintptr_t catch = (uintptr_t)real_find(FTR_UNWIND_CATCH, caller);
	uintptr_t get = (uintptr_t)real_find(FTR_UNWIND_GLOBALS, caller);
	const struct link_map *map = map_of(caller);

	return map != NULL && catch != 0 && get != 0 && map_of(catch) == map && map_of(get) == map;
}

static bool caller_is_known(uintptr_t caller)
{
	unsigned i;

	for (i = 0; i < FTR_UNWIND_CALLERS; i++) {
		if (atomic_load_explicit(&ftr_state.unwind.callers[i], memory_order_relaxed) ==
		    caller)
			return true;
	}
	return false;
}

static void caller_note(uintptr_t caller)
{
	unsigned i = atomic_fetch_add(&ftr_state.unwind.caller_nr, 1);

	if (i < FTR_UNWIND_CALLERS)
		atomic_store_explicit(&ftr_state.unwind.callers[i], caller, memory_order_relaxed);
}

static bool is_trusted(uintptr_t caller)
{
	if (caller_is_known(caller))
		return true;
	if (!caller_look(caller))
		return false;
	caller_note(caller);
	return true;
}

/* "GNUCC++" or "CLNGC++", and a byte for dependent exceptions. */
static bool is_cxx(uint64_t exception_class)
{
	exception_class >>= 8;
	return exception_class == UINT64_C(0x474e5543432b2b) ||
	       exception_class == UINT64_C(0x434c4e47432b2b);
}

/*
 * Of the thread's own stack alone: it is there, while that of a coroutine may be gone.  The slot is
 * written first: a handler may interrupt and return through it, or jump.
 */
static void frame_bare(const struct ftr_thread *self, struct ftr_frame *frame)
{
	uintptr_t *loc = frame->loc;

	if (!FTR_ARCH_SLOT_STAYS || frame->kind != FTR_FRAME_RETURN || *loc != self->stub ||
	    ftr_is_stub(frame->ret))
		return;
	*loc = frame->ret;
	atomic_signal_fence(memory_order_seq_cst);
	frame->kind = FTR_FRAME_BARE;
}

/* Not those below bare_low, which an exception that is under way may know as they are. */
static void frames_bare(struct ftr_thread *self, const uintptr_t *sp, uint64_t max)
{
	struct ftr_frame *low = self->bare_low != NULL ? self->bare_low : self->frames;
	struct ftr_frame *frame = self->top - 1;
	uint64_t nr = 0;

	for (; frame >= low && nr < max; frame--) {
		uintptr_t *loc = frame->loc;

		if (loc == NULL || ftr_frame_is_busy(loc) || loc < sp)
			continue;
		if (!ftr_frame_is_home(self, loc))
			break;
		frame_bare(self, frame);
		nr++;
	}
	if (self->bare_low == NULL)
		self->bare_low = frame + 1;
}

/* Of a call during which they are to be bare? */
static bool is_recovered(const struct ftr_thread *self, const uintptr_t *loc)
{
	return self->gate != NULL && self->gate->recovering != NULL &&
	       loc > self->gate->recovering;
}

static void frames_hook(struct ftr_thread *self, const uintptr_t *sp)
{
	struct ftr_frame *low = self->bare_low, *frame;

	self->bare_low = NULL;
	for (frame = self->top - 1; frame >= low && frame >= self->frames; frame--) {
		uintptr_t *loc = frame->loc;

		if (loc == NULL || ftr_frame_is_busy(loc) || frame->kind != FTR_FRAME_BARE ||
		    is_recovered(self, loc))
			continue;
		frame->kind = FTR_FRAME_RETURN;
		atomic_signal_fence(memory_order_seq_cst);
		if (loc >= sp && *loc == frame->ret)
			*loc = self->stub;
	}
}

static bool is_tracing(const struct ftr_thread *self)
{
	return self->frames != NULL && self->stub != 0 && self->estimate_end == NULL;
}

/* The return address in @slot is a stub when the call is recorded, or is a recorded call's last. */
static uintptr_t caller_of(const struct ftr_thread *self, const uintptr_t *slot)
{
	const struct ftr_frame *frame = self->top - 1;

	if (!ftr_is_stub(*slot))
		return *slot;
	if (self->frames == NULL)
		return 0;
	while (frame >= self->frames && (frame->loc != slot || ftr_is_stub(frame->ret)))
		frame--;
	return frame >= self->frames ? frame->ret : 0;
}

/* The exception that is thrown has been counted. */
static void depart(struct ftr_thread *self, const uintptr_t *slot, uintptr_t caller)
{
	if (uncaught_nr(caller) <= 1)
		self->bare_low = NULL;	/* left over from one that arrived elsewhere */
	self->is_departed = true;
	frames_bare(self, slot, BARE_MAX);
}

/* The exception that has arrived is still counted. */
static void arrive(struct ftr_thread *self, const uintptr_t *slot, uintptr_t caller)
{
	if (uncaught_nr(caller) > 1)
		return;
	self->is_departed = false;
	if (self->bare_low == NULL)
		return;
	ftr_frames_landed(slot, caller);
	frames_hook(self, slot);
}

void ftr_recover_begin(struct ftr_thread *self, uintptr_t *loc)
{
	if (!is_tracing(self) || self->gate->recovering != NULL || !ftr_frame_is_home(self, loc))
		return;
	self->gate->recovering = loc;
	self->bare_low = NULL;
	frames_bare(self, loc + 1, UINT64_MAX);
}

void ftr_recover_end(struct ftr_thread *self, const uintptr_t *loc)
{
	if (self->gate->recovering != loc)
		return;
	self->gate->recovering = NULL;
	frames_hook(self, loc + 1);
}

void *ftr_unwind_before(enum ftr_unwind_call call, const uint64_t *exception,
			const uintptr_t *slot)
{
	struct ftr_thread *self = &ftr_self;
	uintptr_t caller = caller_of(self, slot);
	void *real = real_find(call, caller);

	if (real == NULL)
		return no_unwinder;
	if (call == FTR_UNWIND_CONTEXT) {
		ftr_stacks_expect();
		return real;
	}
	if (!is_tracing(self) || !ftr_frame_is_home(self, slot))
		return real;
	if (call == FTR_UNWIND_CATCH)
		arrive(self, slot, caller);
	else if (is_cxx(*exception) && is_trusted(caller))
		depart(self, slot, caller);
	return real;
}
