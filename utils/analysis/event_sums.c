/* SPDX-License-Identifier: MIT */
/* Events added up by name, and what takes from one to another. */
#include "utils/analysis/event_sums.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/event_pairs.h"
#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/trace/event.h"

/* Something has begun. */
struct begun {
	uint64_t start_ns;
	uint32_t row;		/* of what begins */
	bool is_open;
};

struct event_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_strpool names;	/* id = row */
	struct ftr_hashmap begun_by_key;	/* index in begun, + 1 */
	FTR_VEC(struct begun) begun;
	struct ftr_strbuf name;		/* of the pair at hand */
};

static struct event_sums *sums_of(struct ftr_sink *sink)
{
	return (struct event_sums *)sink;
}

static int row_of(struct event_sums *self, struct ftr_slice name, uint32_t *row)
{
	const struct ftr_str *str = ftr_strpool_get(&self->names, name.s, name.len);

	if (str == NULL)
		return -ENOMEM;
	*row = str->id;
	if (str->id < self->sums.rows.nr)
		return 0;
	return ftr_vec_push(&self->sums.rows,
			    ((struct ftr_sum){ .name = str->s, .status = -1 }));
}

static void took_add(struct ftr_sum *sum, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t took_ns = end_ns > start_ns ? end_ns - start_ns : 0;

	if (sum->total_ns == 0 || took_ns < sum->min_ns)
		sum->min_ns = took_ns;
	if (took_ns > sum->max_ns)
		sum->max_ns = took_ns;
	sum->total_ns += took_ns;
}

static void happened_add(struct ftr_sum *sum, uint64_t start_ns, uint64_t end_ns)
{
	if (sum->calls++ == 0)
		sum->start_ns = start_ns;
	sum->end_ns = end_ns;
}

/* ---- pairs ---- */

/* "syscalls: *" with what the * stands for. */
static int pair_row(struct event_sums *self, const struct ftr_event_match *match, uint32_t *row)
{
	const char *star = strchr(match->name, '*');

	ftr_strbuf_clear(&self->name);
	ftr_strbuf_puts(&self->name, match->name);
	if (star != NULL) {
		self->name.len = (size_t)(star - match->name);
		ftr_strbuf_put(&self->name, match->rest.s, match->rest.len);
	}
	return self->name.failed ? -ENOMEM :
				   row_of(self, ftr_slice_make(self->name.s, self->name.len), row);
}

static struct begun *begun_find(struct event_sums *self, uint64_t key)
{
	void *found = ftr_hashmap_find(&self->begun_by_key, key);

	return found == NULL ? NULL : &self->begun.v[(uintptr_t)found - 1];
}

static int pair_begin(struct event_sums *self, const struct ftr_event_match *match,
		      uint64_t time_ns)
{
	struct begun *begun = begun_find(self, match->key);
	struct begun made = { .start_ns = time_ns, .is_open = true };

	if (pair_row(self, match, &made.row) < 0)
		return -ENOMEM;
	if (begun == NULL)
		return ftr_vec_push(&self->begun, made) < 0 ?
			       -ENOMEM :
			       ftr_hashmap_set(&self->begun_by_key, match->key,
					       (void *)(uintptr_t)self->begun.nr);
	if (!begun->is_open || !match->keeps_first)
		*begun = made;
	return 0;
}

static int pair_end(struct event_sums *self, const struct ftr_event_match *match, uint64_t time_ns)
{
	struct begun *begun = begun_find(self, match->key);
	struct ftr_sum *sum;
	uint32_t row;

	if (begun == NULL || !begun->is_open)
		return 0;
	begun->is_open = false;
	if (match->half == FTR_EVENT_HALF_CANCEL)
		return 0;
	if (pair_row(self, match, &row) < 0)
		return -ENOMEM;
	if (row != begun->row)		/* the end of another: what had begun has none */
		return 0;
	sum = &self->sums.rows.v[row];
	took_add(sum, begun->start_ns, time_ns);
	happened_add(sum, begun->start_ns, time_ns);
	return 0;
}

/* Ends come first: an event may end one thing and begin the next of its kind. */
static int pairs_follow(struct event_sums *self, const struct ftr_event *ev, bool begins)
{
	struct ftr_event_match match;
	size_t pos = 0;
	int ret = 0;

	while (ret == 0 && ftr_event_pairs_next(ev, &pos, &match)) {
		if ((match.half == FTR_EVENT_HALF_BEGIN) != begins)
			continue;
		ret = begins ? pair_begin(self, &match, ev->time_ns) :
			       pair_end(self, &match, ev->time_ns);
	}
	return ret;
}

static int point_add(struct event_sums *self, const struct ftr_event *ev)
{
	const char *name = ev->point.name;
	struct ftr_sum *sum;
	uint32_t row;
	int ret = row_of(self, ftr_slice_make(name, strlen(name)), &row);

	if (ret < 0)
		return ret;
	sum = &self->sums.rows.v[row];
	if (ev->point.start_ns != 0)
		took_add(sum, ev->point.start_ns, ev->time_ns);
	happened_add(sum, ev->point.start_ns != 0 ? ev->point.start_ns : ev->time_ns, ev->time_ns);
	if (!ftr_event_is_tracepoint(ev))
		return 0;
	ret = pairs_follow(self, ev, false);
	return ret < 0 ? ret : pairs_follow(self, ev, true);
}

static int event_sums_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	if (ev->type != FTR_EVENT_POINT)
		return 0;
	return point_add(sums_of(sink), ev) < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") :
						  0;
}

static void event_sums_fini(struct ftr_sink *sink)
{
	struct event_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_vec_fini(&self->begun);
	ftr_hashmap_fini(&self->begun_by_key);
	ftr_strpool_fini(&self->names);
	ftr_strbuf_fini(&self->name);
}

static const struct ftr_sink_ops event_sums_ops = {
	.size	 = sizeof(struct event_sums),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT) |
		   FTR_BIT(FTR_EVENT_LOST) | FTR_BIT(FTR_EVENT_FORK) | FTR_BIT(FTR_EVENT_MESSAGE),
	.event	 = event_sums_event,
	.fini	 = event_sums_fini,
};

struct ftr_sink *ftr_event_sums_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&event_sums_ops, NULL, err);
	struct event_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&self->names);
	ftr_hashmap_init(&self->begun_by_key);
	ftr_strbuf_init(&self->name);
	return sink;
}

const struct ftr_sums *ftr_event_sums_get(const struct ftr_sink *sink)
{
	return &((const struct event_sums *)sink)->sums;
}
