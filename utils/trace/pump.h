/* SPDX-License-Identifier: MIT */
/* The pump: the only loop between a source and a sink. */
#ifndef FTR_TRACE_PUMP_H
#define FTR_TRACE_PUMP_H

#include "utils/trace/sink.h"
#include "utils/trace/source.h"

struct ftr_pump_stats {
	uint64_t events;
	uint64_t refused[FTR_EVENT_TYPES];	/* by type: the sink's format cannot hold them */
};

/* begin, every event, end.  Frees neither.  0 or -errno. */
int ftr_pump(struct ftr_source *source, struct ftr_sink *sink, const struct ftr_trace *trace,
	     struct ftr_pump_stats *stats, struct ftr_err *err);

/* -ENODATA, described: @trace has sums alone (summary.h), and calls were asked for. */
int ftr_pump_refuse_sums(const struct ftr_trace *trace, struct ftr_err *err);

/*
 * One line about what the format could not hold ("chrome cannot hold: 3 messages ..."), or false.
 */
struct ftr_strbuf;
bool ftr_pump_describe_loss(const struct ftr_pump_stats *stats, const struct ftr_sink *sink,
			    struct ftr_strbuf *text);

#endif /* FTR_TRACE_PUMP_H */
