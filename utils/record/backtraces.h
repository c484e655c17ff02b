/* SPDX-License-Identifier: MIT */
/*
 * Stacks of calls: parts that the runtime copied (utils/proto/stack_part.h) become an event with
 * the number of a stack, which is stored once (utils/format/uftrace/stacks.h).  They are unwound
 * with what the modules' files say: the process may be gone.
 */
#ifndef FTR_RECORD_BACKTRACES_H
#define FTR_RECORD_BACKTRACES_H

#include <stddef.h>
#include <stdint.h>

#include "utils/record/maps.h"
#include "utils/record/store.h"

struct ftr_backtraces;

/* NULL = out of memory.  @store lives longer. */
struct ftr_backtraces *ftr_backtraces_new(struct ftr_store *store);
void ftr_backtraces_free(struct ftr_backtraces *self);	/* nullable */

/* What the processes of session @sid have mapped: at its start, and a library (at @base) later. */
void ftr_backtraces_session(struct ftr_backtraces *self, const char *sid,
			    const struct ftr_maps *maps);
void ftr_backtraces_library(struct ftr_backtraces *self, const char *sid, uint64_t base,
			    const char *path);

/*
 * @len bytes of @record_nr whole records of @task, as they stand in TID.event: parts become events,
 * in place, or nothing.  What is left of both is in @len and @record_nr.  For any thread.
 */
void ftr_backtraces_take(struct ftr_backtraces *self, const struct ftr_store_task *task,
			 uint8_t *records, size_t *len, uint64_t *record_nr);

#endif /* FTR_RECORD_BACKTRACES_H */
