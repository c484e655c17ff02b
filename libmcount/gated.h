/* SPDX-License-Identifier: MIT */
/* The hook where rules say which calls are recorded (gate.h): its half behind the common path. */
#ifndef FTR_LIBMCOUNT_GATED_H
#define FTR_LIBMCOUNT_GATED_H

#include "libmcount/gate.h"

/* A call that the gate is asked about. */
struct ftr_gated_call {
	uintptr_t *loc;			/* see struct ftr_frame */
	uintptr_t func;
	enum ftr_frame_kind kind;
	uintptr_t site;			/* CYGPROF: where it was called from */
	const struct ftr_regs *regs;	/* (nullable) */
};

/*
 * The calls that were left have been closed: open a frame, and record the ENTRY, as far as the
 * rules want it.  FTR_FRAME_RETURN: the slot gets the thread's stub, if it has one.  False: there
 * is no frame.
 */
bool ftr_gated_begin(struct ftr_thread *self, const struct ftr_gated_call *call) FTR_HIDDEN;

/* A return to @loc: answers with where to, or 0: its frame is not on top. */
uintptr_t ftr_gated_leave(struct ftr_thread *self, uintptr_t *loc, const struct ftr_regs *regs)
	FTR_HIDDEN;

/* Record the EXIT of @frame, which is busy, if it is wanted.  @regs (nullable) hold its value. */
void ftr_gated_exit(struct ftr_thread *self, struct ftr_frame *frame, const struct ftr_regs *regs)
	FTR_HIDDEN;

/* The ENTRY of @frame, which is open, with its arguments: a call that is recorded for certain. */
void ftr_gated_begin_values(struct ftr_thread *self, struct ftr_frame *frame,
			    const struct ftr_regs *regs) FTR_HIDDEN;

/* Put those of the ENTRYs of @frame and of its callers that wait: something happened in it. */
void ftr_gated_put_waiting(struct ftr_thread *self, const struct ftr_frame *frame) FTR_HIDDEN;

/*
 * Put the ENTRYs that wait: the process is about to be copied, replaced or ended, and what its open
 * calls were is not to be lost.
 */
void ftr_gated_flush(struct ftr_thread *self) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_GATED_H */
