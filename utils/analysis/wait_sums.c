/* SPDX-License-Identifier: MIT */
/* Waits added up: see wait_sums.h. */
#include "utils/analysis/wait_sums.h"

#include <errno.h>
#include <string.h>

#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"
#include "utils/trace/trace.h"

/* A task's wait under way. */
struct state {
	uint32_t row_nr;		/* its row + 1; 0 = it does not wait */
	uint32_t closed_by;		/* kind of the event that ends it */
};

struct wait_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_strpool names;	/* id = row */
	struct ftr_strbuf text;
	struct ftr_per_task states;
};

static struct wait_sums *sums_of(struct ftr_sink *sink)
{
	return (struct wait_sums *)sink;
}

static uint64_t value_named(const struct ftr_event *ev, const char *name)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (ev->payload == NULL || ev->payload->spec == NULL)
		return 0;
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		if (value.arg->name != NULL && strcmp(value.arg->name, name) == 0)
			return value.u;
	}
	return 0;
}

/* "sync:mutex-wait": "mutex 0x1234 in FUNC". */
static void put_name(struct wait_sums *self, const struct ftr_event *ev,
		     const struct ftr_event_kind *kind)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	uint64_t caller = value_named(ev, "caller"), offset;
	const char *name = strchr(kind->name, ':') + 1;
	const struct ftr_func *func = NULL;

	if (session != NULL)	/* the call is before the place that it returns to */
		func = ftr_trace_find(self->trace, session, ev->time_ns, caller - 1, &offset);
	ftr_strbuf_clear(&self->text);
	ftr_strbuf_printf(&self->text, "%.*s %#llx in ", (int)(strrchr(name, '-') - name), name,
			  (unsigned long long)value_named(ev, "object"));
	if (func != NULL)
		ftr_strbuf_puts(&self->text, func->name);
	else
		ftr_strbuf_printf(&self->text, "<%llx>", (unsigned long long)caller);
}

static int wait_begins(struct wait_sums *self, struct state *state, const struct ftr_event *ev,
		       const struct ftr_event_kind *kind)
{
	struct ftr_sum *sum;
	uint32_t row;

	put_name(self, ev, kind);
	if (self->text.failed ||
	    ftr_sums_row(&self->sums, &self->names, ftr_slice_make(self->text.s, self->text.len),
			 &row) < 0)
		return -ENOMEM;
	sum = &self->sums.rows.v[row];
	if (sum->calls++ == 0)
		sum->start_ns = ev->time_ns;
	sum->end_ns = ev->time_ns;
	*state = (struct state){ row + 1, kind->closed_by };
	return 0;
}

static void wait_ends(struct wait_sums *self, struct state *state, const struct ftr_event *ev)
{
	struct ftr_sum *sum = &self->sums.rows.v[state->row_nr - 1];
	uint64_t ns = ev->time_ns - ev->point.start_ns;

	state->row_nr = 0;
	if (ev->point.start_ns == 0)
		return;
	sum->total_ns += ns;
	sum->min_ns = sum->min_ns == 0 || ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
	sum->end_ns = ev->time_ns;
}

static int wait_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	sums_of(sink)->trace = (struct ftr_trace *)trace;	/* functions are found as needed */
	return 0;
}

static int wait_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct wait_sums *self = sums_of(sink);
	const struct ftr_event_kind *kind = NULL;
	struct state *state;
	uint64_t id;

	if (ev->type != FTR_EVENT_POINT)
		return 0;
	id = ftr_event_kind_id(ev);
	if (id >= FTR_EVENT_ID_SYNC_MUTEX && id <= FTR_EVENT_ID_SYNC_LAST)
		kind = ftr_event_kind_by_id(id);
	if (kind == NULL)
		return 0;
	state = ftr_per_task_get(&self->states, ev->task);
	if (state == NULL || (kind->closed_by != 0 && wait_begins(self, state, ev, kind) < 0))
		return ftr_err_set(sink->err, ENOMEM, "out of memory");
	if (kind->closed_by == 0 && state->row_nr != 0 && state->closed_by == id)
		wait_ends(self, state, ev);
	return 0;
}

static void wait_fini(struct ftr_sink *sink)
{
	struct wait_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_per_task_fini(&self->states);
	ftr_strbuf_fini(&self->text);
	ftr_strpool_fini(&self->names);
}

static const struct ftr_sink_ops wait_ops = {
	.size	 = sizeof(struct wait_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.begin	 = wait_begin,
	.event	 = wait_event,
	.fini	 = wait_fini,
};

struct ftr_sink *ftr_wait_sums_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&wait_ops, NULL, err);
	struct wait_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&self->names);
	ftr_strbuf_init(&self->text);
	self->states.bytes = sizeof(struct state);
	return sink;
}

const struct ftr_sums *ftr_wait_sums_get(const struct ftr_sink *sink)
{
	return &((const struct wait_sums *)sink)->sums;
}
