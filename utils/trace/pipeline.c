/* SPDX-License-Identifier: MIT */
/* calls and filters around each source, merge around them all. */
#include "utils/trace/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/calls.h"
#include "utils/trace/merge.h"
#include "utils/trace/trace.h"

static void sources_free(struct ftr_trace *trace)
{
	for (size_t i = 0; i < trace->sources.nr; i++)
		ftr_source_free(trace->sources.v[i]);
	trace->sources.nr = 0;
}

int ftr_trace_pipeline(struct ftr_trace *trace, const struct ftr_pipeline_options *options,
		       struct ftr_source **out, struct ftr_err *err)
{
	for (size_t i = 0; i < trace->sources.nr; i++) {
		trace->sources.v[i] = ftr_calls_new(trace->sources.v[i], trace);
		if (trace->sources.v[i] == NULL) {
			sources_free(trace);
			return ftr_err_set(err, ENOMEM, "out of memory");
		}
	}
	*out = ftr_merge_new(trace->sources.v, trace->sources.nr, options->is_unordered);
	trace->sources.nr = 0;
	return *out == NULL ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
}
