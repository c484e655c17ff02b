/* SPDX-License-Identifier: MIT */
/*
 * Waits of a task (record --probe=sync,file,net,thread): the two events of a call that may block,
 * put together.  A handler's are inside of others, whose own time they are not.
 */
#ifndef FTR_ANALYSIS_WAITS_H
#define FTR_ANALYSIS_WAITS_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_event;
struct ftr_event_kind;

#define FTR_WAITS_MAX 8		/* of a task, one inside of the other */

struct ftr_wait {
	const struct ftr_event_kind *kind;	/* of its begin */
	uint64_t start_ns;
	uint64_t inner_ns;	/* of waits inside */
	uint64_t caller;	/* where the call returns to, 0 = not known */
	uint32_t depth;		/* open calls around it */
	uint32_t node;		/* its user's: where it belongs, once the calls around it ended */
};

struct ftr_waits {
	struct ftr_wait open[FTR_WAITS_MAX];	/* the outermost first */
	unsigned nr;
};

/* Is it an event of a wait, its begin or its end? */
bool ftr_waits_has(const struct ftr_event *ev);

/*
 * Take such an event, with @depth open calls around.  True: it ends *done, which took *ns without
 * those inside of it.
 */
bool ftr_waits_take(struct ftr_waits *waits, const struct ftr_event *ev, uint32_t depth,
		    struct ftr_wait *done, uint64_t *ns);

/* The innermost wait, which is open, ends without an event.  False: none is. */
bool ftr_waits_end(struct ftr_waits *waits, uint64_t time_ns, struct ftr_wait *done, uint64_t *ns);

#endif /* FTR_ANALYSIS_WAITS_H */
