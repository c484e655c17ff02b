/* SPDX-License-Identifier: MIT */
/* The format etrace: reading a text as a trace, writing the observed calls of a trace. */
#include <errno.h>
#include <stdlib.h>

#include "utils/format/etrace/etrace.h"
#include "utils/format/etrace/events.h"
#include "utils/format/format.h"

static void etrace_reader_free(void *reader)
{
	ftr_etrace_events_free(reader);
}

static int etrace_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	struct ftr_etrace_events *events;
	int ret;

	if (trace->wants_growing)
		return ftr_etrace_stream_open(trace, in, err);
	ret = ftr_etrace_events_load(&events, trace, in, err);
	if (ret < 0)
		return ret;
	trace->reader = events;
	trace->reader_free = etrace_reader_free;
	return ftr_etrace_events_take_rest(events);
}

struct etrace_sink {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_etrace_writer writer;
	bool has_begun;
};

static int etrace_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	static const struct ftr_etrace_options all = { .thread_names = true, .mounts = true };
	struct etrace_sink *self = (struct etrace_sink *)sink;

	ftr_etrace_writer_init(&self->writer, sink->out,
			       sink->values != NULL ? sink->values : &all);
	self->has_begun = true;
	return 0;
}

/* A call is written at its end. */
static int etrace_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct etrace_sink *self = (struct etrace_sink *)sink;
	const struct ftr_syscall *call = ftr_event_syscall(ev);

	if (ev->type != FTR_EVENT_EXIT && ev->type != FTR_EVENT_POINT)
		return 0;
	if (call == NULL) {
		sink->cut_nr++;
		sink->cut_what = "calls and events that are no system calls";
		return 0;
	}
	return ftr_etrace_write(&self->writer, call);
}

static void etrace_fini(struct ftr_sink *sink)
{
	struct etrace_sink *self = (struct etrace_sink *)sink;

	if (self->has_begun)
		ftr_etrace_writer_fini(&self->writer);
}

static const struct ftr_sink_ops etrace_sink_ops = {
	.size	 = sizeof(struct etrace_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_FORK) |
		   FTR_BIT(FTR_EVENT_POINT),
	.begin	 = etrace_begin,
	.event	 = etrace_event,
	.fini	 = etrace_fini,
};

static void observed_begin(void *writer, struct ftr_ostream *out, const void *values)
{
	ftr_etrace_writer_init(writer, out, values);
}

static int observed_call(void *writer, const struct ftr_syscall *call)
{
	return ftr_etrace_write(writer, call);
}

static void observed_fini(void *writer)
{
	ftr_etrace_writer_fini(writer);
}

static const struct ftr_observed_ops etrace_observed_ops = {
	.size	  = sizeof(struct ftr_etrace_writer),
	.failures = FTR_ETRACE_FAILURES,
	.begin	  = observed_begin,
	.call	  = observed_call,
	.fini	  = observed_fini,
};

static int etrace_check(struct ftr_istream *in, ftr_violation_fn *violation, void *arg,
			struct ftr_check_result *result)
{
	struct ftr_etrace_log log;
	int ret;

	ftr_etrace_log_init(&log);
	log.is_whole = true;
	ret = ftr_etrace_load(&log, in, violation, arg);
	*result = (struct ftr_check_result){ log.calls.nr, log.violations };
	ftr_etrace_log_fini(&log);
	return ret;
}

static const struct ftr_option etrace_options[] = {
	FTR_OPTION("etrace-prefix", 0, NULL, "Write INITCWD= first and \"0: \" before each line",
		   ftr_opt_flag, struct ftr_etrace_options, has_prefix),
	FTR_OPTION("mount", 0, NULL, "Write mount and umount, too", ftr_opt_flag,
		   struct ftr_etrace_options, mounts),
	FTR_OPTION("skip-repeated-opens", 0, NULL, "Omit an open that repeats the task's previous one",
		   ftr_opt_flag, struct ftr_etrace_options, skip_repeated_opens),
	FTR_OPTION("thread-names", 0, NULL, "Write names that tasks give themselves, too",
		   ftr_opt_flag, struct ftr_etrace_options, thread_names),
	{ 0 }
};

const struct ftr_format ftr_format_etrace = {
	.name	      = "etrace",
	.summary      = "text of what processes did to processes and files",
	.suffix	      = ".etrace",
	.kind	      = FTR_FORMAT_FILE,
	.detect	      = ftr_etrace_detect,
	.read_file    = etrace_read,
	.write	      = &etrace_sink_ops,
	.observed     = &etrace_observed_ops,
	.check	      = etrace_check,
	.check_option = FTR_FORMAT_CHECK_OPTION("etrace",
						"Check the etrace text FILE; - is standard input"),
	.options      = etrace_options,
	.values_bytes = sizeof(struct ftr_etrace_options),
};
