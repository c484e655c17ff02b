/* SPDX-License-Identifier: MIT */
/*
 * Changes of code that threads may be running in.  They are only noted, with what is there: whoever
 * has stopped the threads makes them, and takes them back (utils/proto/attach.h).
 */
#ifndef FTR_LIBMCOUNT_CODE_PLAN_H
#define FTR_LIBMCOUNT_CODE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/proto/attach.h"

#define FTR_CODE_NONE UINT32_MAX
#define FTR_CODE_GROWTHS 16u

/*
 * One writer at a time.  Who has been told of the changes so far may read them while it grows: what
 * it has outgrown stays mapped.
 */
struct ftr_code_plan {
	struct ftr_attach_code *v;	/* mapped; NULL = there is none */
	uint32_t nr, room;
	uint32_t outgrown_nr;
	struct ftr_attach_code *outgrown[FTR_CODE_GROWTHS];
	bool is_open;			/* else what is to be changed comes too late */
};

struct ftr_code_change {
	uintptr_t addr;
	uint32_t bytes;
	const uint8_t *old, *new;
	uint32_t needs;			/* the index of another one, or FTR_CODE_NONE */
	bool is_later, is_fixed;	/* as of struct ftr_attach_code */
};

/* False: it has too many bytes, or there is no memory. */
bool ftr_code_plan_add(struct ftr_code_plan *plan, const struct ftr_code_change *change)
	__attribute__((visibility("hidden")));

/* The change at @addr among those from @first to @end, which ascend; else FTR_CODE_NONE. */
uint32_t ftr_code_plan_find(const struct ftr_code_plan *plan, uint32_t first, uint32_t end,
			    uintptr_t addr) __attribute__((visibility("hidden")));

/* What lies from @low on for @bytes has been unloaded. */
void ftr_code_plan_forget(struct ftr_code_plan *plan, uintptr_t low, uintptr_t bytes)
	__attribute__((visibility("hidden")));

/*
 * What has its code from @text to @end now may be another library than before, or not have been
 * patched yet: what was planned there and is not made is planned anew.
 */
void ftr_code_plan_renew(struct ftr_code_plan *plan, uintptr_t text, uintptr_t end)
	__attribute__((visibility("hidden")));

/* Have the recorder make the changes: other threads may be running in that code. */
void ftr_code_plan_send(const struct ftr_code_plan *plan) __attribute__((visibility("hidden")));

void ftr_code_plan_free(struct ftr_code_plan *plan) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_CODE_PLAN_H */
