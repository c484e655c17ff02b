/* SPDX-License-Identifier: MIT */
/* The stack of a stopped task, by libunwind, where ftr is built with it. */
#ifndef FTR_OBSERVE_UNWIND_H
#define FTR_OBSERVE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/proto/stack_part.h"

struct ftr_space;
struct ftr_tracee;

bool ftr_unwind_is_possible(void);
/* Does the runtime tell as much of a stack as ftr_unwind_copy needs? */
bool ftr_unwind_copy_is_possible(void);

/*
 * The addresses in @ips, at most @max, from the innermost on: where the task is, then where each
 * call returns to.  How many; 0 = it cannot be said.  It ends where no unwind information leads on,
 * or, *unknown says where, at code that @space does not know.
 */
size_t ftr_unwind(struct ftr_space *space, const struct ftr_tracee *tracee, uint64_t *ips,
		  size_t max, uint64_t *unknown);

/* A stack from where its head says on. */
struct ftr_stack_copy {
	const struct ftr_stack_head *head;
	const uint8_t *bytes;
	size_t len;
	uint64_t outer;			/* of a handler with a stack of its own: where the other */
	const uint8_t *outer_bytes;	/* goes on (nullable) */
	size_t outer_len;
};

/*
 * What of a copy was looked at while it was unwound.  Where all that is the same in another one, of
 * the same space, unwinding leads to the same.
 */
struct ftr_unwind_read {
	uint32_t offset;		/* from the stack pointer, or of FTR_UNWIND_* */
	bool is_there;			/* else it is beyond the copy's end */
	uint64_t value;
};
#define FTR_UNWIND_OUTER UINT32_C(0x40000000)	/* and the offset from outer */
#define FTR_UNWIND_REG UINT32_C(0x80000000)	/* and the number of the register */
struct ftr_unwind_reads {
	FTR_VEC(struct ftr_unwind_read) all;
	bool has_failed;		/* out of memory: there is more */
};

/* Would it read just these? */
bool ftr_unwind_reads_fit(const struct ftr_unwind_read *reads, size_t nr,
			  const struct ftr_stack_copy *copy);

/*
 * The callers around the call that @copy is of, the innermost first, at most @max: addresses within
 * the calling instructions, in @ips.  All modules of @space are of files.  0 = it cannot be said:
 * nothing leads from the head to the call.
 */
size_t ftr_unwind_copy(struct ftr_space *space, const struct ftr_stack_copy *copy,
		       struct ftr_unwind_reads *reads, uint64_t *ips, size_t max);

/* What is kept in space->unwinder (nullable). */
void ftr_unwinder_free(void *unwinder);

#endif /* FTR_OBSERVE_UNWIND_H */
