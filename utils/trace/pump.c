/* SPDX-License-Identifier: MIT */
/* The pump: pull batches, push events, count what the sink cannot hold. */
#include "utils/trace/pump.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/trace/summary.h"
#include "utils/trace/trace.h"

static const char *const type_names[FTR_EVENT_TYPES] = {
	[FTR_EVENT_ENTRY]   = "call entries",
	[FTR_EVENT_EXIT]    = "call exits",
	[FTR_EVENT_POINT]   = "events",
	[FTR_EVENT_LOST]    = "marks of lost records",
	[FTR_EVENT_FORK]    = "task starts",
	[FTR_EVENT_MESSAGE] = "messages",
};

static int pump_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr,
		      struct ftr_pump_stats *stats)
{
	int (*push)(struct ftr_sink *, const struct ftr_event *) = sink->ops->event;
	uint32_t accepts = sink->ops->accepts;

	assert(nr <= FTR_SOURCE_BATCH);
	stats->events += nr;
	if (sink->ops->batch != NULL)
		return sink->ops->batch(sink, evs, nr);
	for (size_t i = 0; i < nr; i++) {
		int ret;

		if (__builtin_expect(!(accepts & FTR_BIT(evs[i].type)), 0)) {
			assert(evs[i].type < FTR_EVENT_TYPES);
			stats->refused[evs[i].type]++;
			continue;
		}
		ret = push(sink, &evs[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* What comes next, as a run where both ends can.  1, 0 at the end, or -errno. */
static int pump_next(struct ftr_source *source, struct ftr_sink *sink,
		     struct ftr_pump_stats *stats, struct ftr_err *err)
{
	struct ftr_event *evs;
	struct ftr_run *run;
	ssize_t nr = 0;
	int ret;

	if (sink->ops->run != NULL)
		nr = ftr_source_run(source, &run, err);
	if (nr > 0) {
		stats->events += run->event_nr;
		ret = sink->ops->run(sink, run);
		return ret < 0 ? ret : 1;
	}
	if (nr == 0)
		nr = ftr_source_next(source, &evs, err);
	if (nr <= 0)
		return (int)nr;
	ret = pump_batch(sink, evs, (size_t)nr, stats);
	return ret < 0 ? ret : 1;
}

static int pump_sums(struct ftr_summary *summary, struct ftr_sink *sink, struct ftr_err *err)
{
	const struct ftr_summary_row *row;
	int ret, more;

	summary->rewind(summary);
	while ((more = summary->next(summary, &row, err)) > 0) {
		ret = sink->ops->sums(sink, row);
		if (ret < 0)
			return ret;
	}
	return more;
}

int ftr_pump_refuse_sums(const struct ftr_trace *trace, struct ftr_err *err)
{
	return ftr_err_set(err, ENODATA, "%s: was recorded with --summary and has sums of calls "
			   "alone, which ftr report, diff, check, load and dump --rows=sums read; "
			   "record it without for more", trace->path);
}

int ftr_pump(struct ftr_source *source, struct ftr_sink *sink, const struct ftr_trace *trace,
	     struct ftr_pump_stats *stats, struct ftr_err *err)
{
	const struct ftr_run_wish wish = { .kind = sink->ops->run_kind,
					   .takes_short = sink->ops->takes_short };
	bool is_growing = trace != NULL && trace->is_growing;
	struct ftr_pump_stats unasked;
	int ret = 0, more = 1;

	assert(sink->ops->event != NULL || sink->ops->batch != NULL);
	assert(sink->ops->accepts < FTR_BIT(FTR_EVENT_TYPES));
	if (stats == NULL)
		stats = &unasked;
	memset(stats, 0, sizeof(*stats));
	sink->err = err;
	if (trace != NULL && trace->summary != NULL && sink->ops->sums == NULL)
		return ftr_pump_refuse_sums(trace, err);
	if (sink->ops->begin != NULL)
		ret = sink->ops->begin(sink, trace);
	if (ret >= 0 && trace != NULL && trace->summary != NULL)
		ret = pump_sums(trace->summary, sink, err);
	if (ret >= 0 && sink->ops->run != NULL)
		ftr_source_wish(source, &wish);
	while (ret >= 0 && more > 0) {
		more = pump_next(source, sink, stats, err);
		ret = more < 0 ? more : 0;
		/* The source may wait long for the next batch: show what there is. */
		if (ret >= 0 && is_growing && sink->out != NULL)
			ret = ftr_ostream_flush(sink->out, err);
	}
	if (ret >= 0 && sink->ops->end != NULL)
		ret = sink->ops->end(sink);
	return ret < 0 ? ret : 0;
}

bool ftr_pump_describe_loss(const struct ftr_pump_stats *stats, const struct ftr_sink *sink,
			    struct ftr_strbuf *text)
{
	const char *separator = "not in the output: ";
	bool is_any = false;

	for (unsigned type = 0; type < FTR_EVENT_TYPES; type++) {
		if (stats->refused[type] == 0)
			continue;
		ftr_strbuf_printf(text, "%s%llu %s", separator,
				  (unsigned long long)stats->refused[type], type_names[type]);
		separator = ", ";
		is_any = true;
	}
	if (sink->cut_nr > 0) {
		ftr_strbuf_printf(text, "%s%llu %s", separator, (unsigned long long)sink->cut_nr,
				  sink->cut_what == NULL ? "details" : sink->cut_what);
		is_any = true;
	}
	if (sink->note == NULL)
		return is_any;
	ftr_strbuf_printf(text, "%sin the output, but: %s", is_any ? "; " : "", sink->note);
	return true;
}
