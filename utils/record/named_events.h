/* SPDX-License-Identifier: MIT */
/* The events of a recording whose names are those of the program: their ids, in events.txt. */
#ifndef FTR_RECORD_NAMED_EVENTS_H
#define FTR_RECORD_NAMED_EVENTS_H

#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"

struct ftr_named_events {
	FTR_VEC(char *) names;		/* (owned) "PROVIDER:NAME", of FTR_EVENT_ID_SDT and on */
	size_t stored_nr;
};

/* The id of @name, a new one at first; 0 = out of memory, or of ids. */
uint32_t ftr_named_event(struct ftr_named_events *events, const char *name);

/* Write those to the data that are not there. */
void ftr_named_events_store(struct ftr_named_events *events, struct ftr_uftrace_dir *dir);
void ftr_named_events_fini(struct ftr_named_events *events);	/* zeroed is fine */

#endif /* FTR_RECORD_NAMED_EVENTS_H */
