/* SPDX-License-Identifier: MIT */
/* See waits.h. */
#include "utils/analysis/waits.h"

#include <string.h>

#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"

static uint64_t caller_of(const struct ftr_event *ev)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (ev->payload == NULL || ev->payload->spec == NULL)
		return 0;
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		if (value.arg->name != NULL && strcmp(value.arg->name, "caller") == 0)
			return value.u;
	}
	return 0;
}

bool ftr_waits_has(const struct ftr_event *ev)
{
	uint64_t id = ev->type == FTR_EVENT_POINT ? ftr_event_kind_id(ev) : 0;

	return id >= FTR_EVENT_ID_SYNC_MUTEX && id < FTR_EVENT_ID_THREAD_EXIT;
}

static void wait_begin(struct ftr_waits *waits, const struct ftr_event *ev, uint32_t depth,
		       const struct ftr_event_kind *kind)
{
	if (waits->nr == FTR_WAITS_MAX)		/* the oldest one will never end */
		memmove(waits->open, waits->open + 1, --waits->nr * sizeof(waits->open[0]));
	waits->open[waits->nr++] = (struct ftr_wait){
		.kind = kind, .start_ns = ev->time_ns, .caller = caller_of(ev), .depth = depth,
		.node = UINT32_MAX,
	};
}

bool ftr_waits_end(struct ftr_waits *waits, uint64_t time_ns, struct ftr_wait *done, uint64_t *ns)
{
	uint64_t total_ns;

	if (waits->nr == 0)
		return false;
	*done = waits->open[--waits->nr];
	total_ns = time_ns > done->start_ns ? time_ns - done->start_ns : 0;
	*ns = total_ns > done->inner_ns ? total_ns - done->inner_ns : 0;
	if (waits->nr > 0)
		waits->open[waits->nr - 1].inner_ns += total_ns;
	return true;
}

bool ftr_waits_take(struct ftr_waits *waits, const struct ftr_event *ev, uint32_t depth,
		    struct ftr_wait *done, uint64_t *ns)
{
	uint64_t id = ftr_event_kind_id(ev);
	const struct ftr_event_kind *kind = ftr_event_kind_by_id(id);
	unsigned i = waits->nr;

	if (kind != NULL && kind->closed_by != 0) {
		wait_begin(waits, ev, depth, kind);
		return false;
	}
	while (i > 0 && waits->open[i - 1].kind->closed_by != id)
		i--;
	if (i == 0)			/* it began before the trace */
		return false;
	waits->nr = i;			/* those inside of it were left by a jump */
	return ftr_waits_end(waits, ev->time_ns, done, ns);
}
