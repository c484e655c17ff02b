/* SPDX-License-Identifier: MIT */
/* One reading of a trace: what a choice lets through, in the order of time. */
#ifndef FTR_PYTHON_READING_H
#define FTR_PYTHON_READING_H

#include "python/limited.h"

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

struct reading {
	struct ftr_diag diag;
	struct ftr_trace *trace;	/* (owned) */
	struct ftr_source *source;	/* (owned) */
	FTR_VEC(int32_t) tids;
	struct ftr_pipeline_options options;
};

/*
 * A trace's sources can be read once, so each reading opens it anew.  @args and @kwargs are the
 * choice.  0, or -1 with an exception of @error.
 */
int  reading_open(struct reading *reading, const char *path, PyObject *args, PyObject *kwargs,
		  PyObject *error);
void reading_close(struct reading *reading);

/* Open the trace alone: its tasks and what the recorder wrote.  NULL with an exception. */
struct ftr_trace *reading_trace(const char *path, struct ftr_diag *diag, PyObject *error);

/* A batch, as ftr_source_next; -1 with an exception, also that of a signal. */
Py_ssize_t reading_next(struct reading *reading, struct ftr_event **evs, PyObject *error);

#endif /* FTR_PYTHON_READING_H */
