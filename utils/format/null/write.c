/* SPDX-License-Identifier: MIT */
/* The smallest format: every event is taken, nothing is written. */
#include "utils/trace/format.h"

static int null_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	return 0;
}

static const struct ftr_sink_ops null_ops = {
	.size	 = sizeof(struct ftr_sink),
	.accepts = FTR_BIT(FTR_EVENT_TYPES) - 1,
	.event	 = null_event,
};

const struct ftr_format ftr_format_null = {
	.name	 = "null",
	.summary = "nothing: the trace is read, and its damage reported",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &null_ops,
};
