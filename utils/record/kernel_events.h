/* SPDX-License-Identifier: MIT */
/* The kernel's events: which there are, which of them the user named, and switching them on. */
#ifndef FTR_RECORD_KERNEL_EVENTS_H
#define FTR_RECORD_KERNEL_EVENTS_H

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"

struct ftr_kernel_event {
	char *path;			/* (owned) "events/SYSTEM/NAME" */
	struct ftr_slice filter;	/* (borrowed) empty = none */
	bool is_on;
};

struct ftr_kernel_events {
	FTR_VEC(struct ftr_kernel_event) v;
};

void ftr_kernel_events_fini(struct ftr_kernel_events *events);	/* zeroed is fine */

/*
 * Those of the directory @dir, tracefs or an instance, that the arguments @given of --Event name.
 * Of several words that name an event the last one's filter counts.  A word that names none is
 * warned about.  0 or -ENOMEM.
 */
int ftr_kernel_events_find(struct ftr_kernel_events *events, int dir,
			   const struct ftr_opt_list *given, struct ftr_diag *diag);
/* Switch them on in the instance @dir; what is refused is warned about.  How many are on. */
size_t ftr_kernel_events_start(struct ftr_kernel_events *events, int dir, struct ftr_diag *diag);
/* "SYSTEM:NAME@kernel", a line each, of all there are. */
int ftr_kernel_events_list(int dir, struct ftr_strbuf *text);

#endif /* FTR_RECORD_KERNEL_EVENTS_H */
