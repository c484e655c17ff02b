/* SPDX-License-Identifier: MIT */
/* Events added up by name, and what takes from one to another. */
#include "utils/analysis/event_sums.h"

#include <errno.h>
#include <string.h>

#include "utils/analysis/event_pairs.h"
#include "utils/base/arena.h"
#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/text.h"
#include "utils/trace/event.h"

/* Something has begun. */
struct begun {
	uint64_t start_ns;
	uint32_t row;		/* of what begins */
	bool is_open;
};

/* What is known of events of a name. */
struct kind {
	uint32_t row;
	unsigned pair_nr;
	struct ftr_event_pair pairs[FTR_EVENT_HALVES_MAX];
	uint32_t pair_rows[FTR_EVENT_HALVES_MAX];
};

struct event_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_strpool names;	/* id = row */
	struct ftr_arena arena;
	struct ftr_hashmap kinds;	/* address of a name, which stays -> struct kind */
	struct ftr_hashmap begun_by_key;	/* index in begun, + 1 */
	FTR_VEC(struct begun) begun;
};

static struct event_sums *sums_of(struct ftr_sink *sink)
{
	return (struct event_sums *)sink;
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

static struct begun *begun_find(struct event_sums *self, uint64_t key)
{
	void *found = ftr_hashmap_find(&self->begun_by_key, key);

	return found == NULL ? NULL : &self->begun.v[(uintptr_t)found - 1];
}

static int pair_begin(struct event_sums *self, uint64_t key, const struct ftr_event_pair *pair,
		      struct begun made)
{
	struct begun *begun = begun_find(self, key);

	if (begun == NULL)
		return ftr_vec_push(&self->begun, made) < 0 ?
			       -ENOMEM :
			       ftr_hashmap_set(&self->begun_by_key, key,
					       (void *)(uintptr_t)self->begun.nr);
	if (!begun->is_open || !pair->keeps_first)
		*begun = made;
	return 0;
}

static void pair_end(struct event_sums *self, uint64_t key, const struct ftr_event_pair *pair,
		     const struct begun *end)
{
	struct begun *begun = begun_find(self, key);

	if (begun == NULL || !begun->is_open)
		return;
	begun->is_open = false;
	/* The end of another: what had begun has none. */
	if (pair->half == FTR_EVENT_HALF_CANCEL || end->row != begun->row)
		return;
	took_add(&self->sums.rows.v[end->row], begun->start_ns, end->start_ns);
	happened_add(&self->sums.rows.v[end->row], begun->start_ns, end->start_ns);
}

static int pairs_follow(struct event_sums *self, const struct kind *kind,
			const struct ftr_event *ev)
{
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < kind->pair_nr; i++) {
		struct begun now = { ev->time_ns, kind->pair_rows[i], true };
		uint64_t key;

		if (!ftr_event_pair_key(&kind->pairs[i], ev, &key))
			continue;
		if (kind->pairs[i].half == FTR_EVENT_HALF_BEGIN)
			ret = pair_begin(self, key, &kind->pairs[i], now);
		else
			pair_end(self, key, &kind->pairs[i], &now);
	}
	return ret;
}

/* ---- names ---- */

static int kind_fill(struct event_sums *self, struct kind *kind, const struct ftr_event *ev)
{
	const char *name = ev->point.name;
	int ret = ftr_sums_row(&self->sums, &self->names, ftr_slice_make(name, strlen(name)),
			       &kind->row);

	if (ftr_event_is_tracepoint(ev))
		kind->pair_nr = ftr_event_pairs_of(name, kind->pairs);
	for (unsigned i = 0; ret == 0 && i < kind->pair_nr; i++) {
		struct ftr_strbuf text;

		ftr_strbuf_init(&text);
		ftr_event_pair_title(&kind->pairs[i], name, &text);
		ret = text.failed ? -ENOMEM :
				    ftr_sums_row(&self->sums, &self->names,
						 ftr_slice_make(text.s, text.len),
						 &kind->pair_rows[i]);
		ftr_strbuf_fini(&text);
	}
	return ret;
}

/* NULL: out of memory. */
static const struct kind *kind_get(struct event_sums *self, const struct ftr_event *ev)
{
	uint64_t key = (uintptr_t)ev->point.name;
	struct kind *kind = ftr_hashmap_find(&self->kinds, key);

	if (kind != NULL)
		return kind;
	kind = ftr_arena_alloc(&self->arena, sizeof(*kind));
	if (kind == NULL)
		return NULL;
	memset(kind, 0, sizeof(*kind));
	return kind_fill(self, kind, ev) == 0 && ftr_hashmap_set(&self->kinds, key, kind) == 0 ?
		       kind :
		       NULL;
}

static int point_add(struct event_sums *self, const struct ftr_event *ev)
{
	const struct kind *kind = kind_get(self, ev);
	uint64_t start_ns = ev->point.start_ns;
	struct ftr_sum *sum;

	if (kind == NULL)
		return -ENOMEM;
	sum = &self->sums.rows.v[kind->row];
	if (start_ns != 0)
		took_add(sum, start_ns, ev->time_ns);
	happened_add(sum, start_ns != 0 ? start_ns : ev->time_ns, ev->time_ns);
	return pairs_follow(self, kind, ev);
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
	ftr_hashmap_fini(&self->kinds);
	ftr_arena_fini(&self->arena);
}

static const struct ftr_sink_ops event_sums_ops = {
	.size	 = sizeof(struct event_sums),
	.accepts = FTR_SUMS_ACCEPTS,
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
	ftr_hashmap_init(&self->kinds);
	ftr_arena_init(&self->arena);
	return sink;
}

const struct ftr_sums *ftr_event_sums_get(const struct ftr_sink *sink)
{
	return &((const struct event_sums *)sink)->sums;
}
