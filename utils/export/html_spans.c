/* SPDX-License-Identifier: MIT */
/* Spans of a page's timeline, merged where there are more than it has room for. */
#include "utils/export/html_spans.h"

#include "utils/base/bits.h"
#include "utils/export/html_put.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

#define BITS_MAX 64u
#define GRAIN_BITS_MAX 63u
/* Rows that can be looked at; a page that is a million pixels high is high enough. */
#define DEPTH_MAX 65536u
/* Beyond span_max, so that merging pays. */
#define SPARE(max) ((max) / 2)

#define KIND_BITS 2u
#define KIND_TEXT 1u
#define KIND_RUN  2u

static unsigned bits_of(uint64_t value)
{
	return value == 0 ? 0 : BITS_MAX - (unsigned)__builtin_clzll(value);
}

void ftr_html_spans_init(struct ftr_html_spans *spans, size_t span_max)
{
	spans->span_max = span_max;
	spans->depth_max = DEPTH_MAX;
	spans->first_ns = UINT64_MAX;
}

static void rows_cut(struct ftr_html_task *task, size_t nr)
{
	for (size_t i = nr; i < task->rows.nr; i++)
		ftr_vec_fini(&task->rows.v[i].spans);
	if (nr < task->rows.nr)
		task->rows.nr = nr;
}

void ftr_html_spans_fini(struct ftr_html_spans *spans)
{
	for (size_t i = 0; i < spans->tasks.nr; i++) {
		rows_cut(&spans->tasks.v[i], 0);
		ftr_vec_fini(&spans->tasks.v[i].rows);
	}
	ftr_vec_fini(&spans->tasks);
}

/* ---- merging ---- */

static uint32_t calls_sum(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Majority by time: what has more than half of the run's stays. */
static void span_merge(struct ftr_html_span *to, const struct ftr_html_span *from)
{
	to->end_ns = from->end_ns;
	to->ns += from->ns;
	to->calls = calls_sum(to->calls, from->calls);
	to->text = 0;
	to->is_run = true;
	if (to->func == from->func) {
		to->lead_ns += from->lead_ns;
	} else if (to->lead_ns >= from->lead_ns) {
		to->lead_ns -= from->lead_ns;
	} else {
		to->func = from->func;
		to->lead_ns = from->lead_ns - to->lead_ns;
	}
}

static bool is_short(const struct ftr_html_span *span, unsigned bits)
{
	return (span->end_ns - span->start_ns) >> bits == 0;
}

static bool can_merge(const struct ftr_html_span *a, const struct ftr_html_span *b, unsigned bits)
{
	return a->start_ns >> bits == b->start_ns >> bits && (a->is_run || is_short(a, bits)) &&
	       (b->is_run || is_short(b, bits));
}

/* The span of the row above that @span lies in, from *pos on; SIZE_MAX: none. */
static size_t caller_find(const struct ftr_html_row *above, size_t *pos,
			  const struct ftr_html_span *span)
{
	if (above == NULL)
		return SIZE_MAX;
	while (*pos < above->spans.nr && above->spans.v[*pos].end_ns < span->end_ns)
		(*pos)++;
	if (*pos < above->spans.nr && above->spans.v[*pos].start_ns <= span->start_ns)
		return *pos;
	return SIZE_MAX;
}

/* Returns how many spans less there are. */
static size_t row_merge(struct ftr_html_row *row, const struct ftr_html_row *above, unsigned bits)
{
	size_t kept = 0, pos = 0, caller_before = SIZE_MAX, before = row->spans.nr;

	for (size_t i = 0; i < row->spans.nr; i++) {
		struct ftr_html_span *span = &row->spans.v[i];
		size_t caller = caller_find(above, &pos, span);

		if (kept > 0 && caller == caller_before &&
		    can_merge(&row->spans.v[kept - 1], span, bits))
			span_merge(&row->spans.v[kept - 1], span);
		else
			row->spans.v[kept++] = *span;
		caller_before = caller;
	}
	row->spans.nr = kept;
	return before - kept;
}

static void merge(struct ftr_html_spans *spans)
{
	for (size_t i = 0; i < spans->tasks.nr; i++) {
		struct ftr_html_task *task = &spans->tasks.v[i];

		for (size_t depth = 0; depth < task->rows.nr; depth++)
			spans->span_nr -= row_merge(&task->rows.v[depth],
						    depth > 0 ? &task->rows.v[depth - 1] : NULL,
						    spans->grain_bits);
	}
}

/* What is as deep as that goes, where merging does not help: a tower of calls. */
static void leave_out(struct ftr_html_spans *spans, uint32_t depth_max)
{
	spans->depth_max = depth_max;
	for (size_t i = 0; i < spans->tasks.nr; i++) {
		struct ftr_html_task *task = &spans->tasks.v[i];

		for (size_t depth = depth_max; depth < task->rows.nr; depth++) {
			const struct ftr_html_row *row = &task->rows.v[depth];

			for (size_t k = 0; k < row->spans.nr; k++)
				spans->left_out += row->spans.v[k].calls;
			spans->span_nr -= row->spans.nr;
		}
		rows_cut(task, depth_max);
	}
}

/* The bits of a grain below which a quarter of the spans are: less would not make them fewer. */
static unsigned grain_first(const struct ftr_html_spans *spans)
{
	size_t counts[BITS_MAX + 1] = { 0 }, below = 0;
	unsigned bit_nr = 0;

	for (size_t i = 0; i < spans->tasks.nr; i++) {
		const struct ftr_html_task *task = &spans->tasks.v[i];

		for (size_t depth = 0; depth < task->rows.nr; depth++) {
			const struct ftr_html_row *row = &task->rows.v[depth];

			for (size_t k = 0; k < row->spans.nr; k++)
				counts[bits_of(row->spans.v[k].ns)]++;
		}
	}
	while (bit_nr < GRAIN_BITS_MAX && (below += counts[bit_nr]) < spans->span_nr / 4)
		bit_nr++;
	return bit_nr > 0 ? bit_nr : 1;
}

/* At most span_max, as far as that can be done. */
static void make_room(struct ftr_html_spans *spans)
{
	unsigned whole_bits = bits_of(spans->last_ns - spans->first_ns) + 1;

	if (spans->grain_bits == 0)
		spans->grain_bits = grain_first(spans);
	merge(spans);
	while (spans->span_nr > spans->span_max && spans->grain_bits < GRAIN_BITS_MAX &&
	       spans->grain_bits <= whole_bits) {
		spans->grain_bits++;
		merge(spans);
	}
	while (spans->span_nr > spans->span_max && spans->depth_max > 1)
		leave_out(spans, spans->depth_max / 2);
}

/* ---- adding ---- */

static struct ftr_html_row *row_of(struct ftr_html_spans *spans, const struct ftr_task *task,
				   uint32_t depth)
{
	struct ftr_html_task *of;

	if (ftr_vec_reach(&spans->tasks, task->id) < 0)
		return NULL;
	of = &spans->tasks.v[task->id];
	of->task = task;
	if (ftr_vec_reach(&of->rows, depth) < 0)
		return NULL;
	return &of->rows.v[depth];
}

/* Damaged data must not put one span over another. */
static void span_behind(struct ftr_html_span *span, const struct ftr_html_row *row)
{
	uint64_t last_ns = row->spans.nr > 0 ? row->spans.v[row->spans.nr - 1].end_ns : 0;

	if (span->start_ns < last_ns)
		span->start_ns = last_ns;
	if (span->end_ns < span->start_ns)
		span->end_ns = span->start_ns;
}

int ftr_html_spans_add(struct ftr_html_spans *spans, const struct ftr_task *task, uint32_t depth,
		       struct ftr_html_span span)
{
	struct ftr_html_row *row;

	if (spans->first_ns > span.start_ns)
		spans->first_ns = span.start_ns;
	if (spans->last_ns < span.end_ns)
		spans->last_ns = span.end_ns;
	if (depth >= spans->depth_max) {
		spans->left_out += span.func != FTR_HTML_NOT_RUNNING;
		return 0;
	}
	row = row_of(spans, task, depth);
	if (row == NULL)
		return -ENOMEM;
	span_behind(&span, row);
	span.ns = span.end_ns - span.start_ns;
	span.lead_ns = span.ns;
	span.calls = span.func != FTR_HTML_NOT_RUNNING;
	span.is_run = false;
	if (ftr_vec_push(&row->spans, span) < 0)
		return -ENOMEM;
	if (++spans->span_nr > spans->span_max + SPARE(spans->span_max))
		make_room(spans);
	return 0;
}

int ftr_html_spans_event(struct ftr_html_spans *spans, const struct ftr_event *ev, uint32_t text)
{
	struct ftr_html_span span = { .end_ns = ev->time_ns, .text = text };

	if (ev->type == FTR_EVENT_EXIT) {
		span.start_ns = ev->call.start_ns;
		span.func = ev->call.func->name_id;
	} else if (ev->type == FTR_EVENT_POINT && ftr_event_is_sched_in(ev) &&
		   ev->point.start_ns != 0) {
		span.start_ns = ev->point.start_ns;
		span.func = FTR_HTML_NOT_RUNNING;
	} else {
		return 0;
	}
	return ftr_html_spans_add(spans, ev->task, ev->depth, span);
}

void ftr_html_spans_end(struct ftr_html_spans *spans)
{
	if (spans->span_nr > spans->span_max)
		make_room(spans);
	else if (spans->grain_bits != 0)
		merge(spans);
}

/* ---- writing ---- */

static void span_put(const struct ftr_html_span *span, uint64_t last_ns, struct ftr_html_base64 *to)
{
	uint64_t func = span->func == FTR_HTML_NOT_RUNNING ? 0 : (uint64_t)span->func + 1;
	unsigned kind = span->is_run ? KIND_RUN : span->text != 0 ? KIND_TEXT : 0;

	ftr_html_put_number(to, span->start_ns - last_ns);
	ftr_html_put_number(to, span->end_ns - span->start_ns);
	ftr_html_put_number(to, func << KIND_BITS | kind);
	if (kind == KIND_TEXT)
		ftr_html_put_number(to, span->text - 1);
	if (kind == KIND_RUN) {
		ftr_html_put_number(to, span->calls);
		ftr_html_put_number(to, span->ns);
	}
}

void ftr_html_spans_put(const struct ftr_html_spans *spans, const struct ftr_html_task *task,
			struct ftr_ostream *out)
{
	struct ftr_html_base64 to = { .out = out };

	ftr_html_put_number(&to, task->rows.nr);
	for (size_t depth = 0; depth < task->rows.nr; depth++) {
		const struct ftr_html_row *row = &task->rows.v[depth];
		uint64_t last_ns = spans->first_ns;

		ftr_html_put_number(&to, row->spans.nr);
		for (size_t i = 0; i < row->spans.nr; i++) {
			span_put(&row->spans.v[i], last_ns, &to);
			last_ns = row->spans.v[i].end_ns;
		}
	}
	ftr_html_put_end(&to);
}
