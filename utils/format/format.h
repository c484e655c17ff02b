/* SPDX-License-Identifier: MIT */
/* A format, in or out: one const struct each, listed in formats.def. */
#ifndef FTR_FORMAT_FORMAT_H
#define FTR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/sink.h"
#include "utils/trace/trace.h"

enum ftr_format_kind {
	FTR_FORMAT_FILE,	/* one file */
	FTR_FORMAT_DIRECTORY,
};

struct ftr_format {
	const char *name;		/* of --format: "fxt" */
	const char *summary;		/* one line for --help */
	const char *suffix;		/* ".fxt" (nullable) */
	enum ftr_format_kind kind;

	/* Reading (NULL = write only).  @head: the first bytes of the file (DIRECTORY: unused). */
	bool (*detect)(const char *path, const uint8_t *head, size_t len);
	/*
	 * Fill a new trace: info, tasks, sessions, sources.  Damage is warned about (trace->diag),
	 * what is left is read; -errno only when nothing can be shown.
	 */
	int (*read)(struct ftr_trace *trace, const char *path, struct ftr_err *err);

	/* Writing (NULL = read only).  FILE: sink->out is the file. */
	const struct ftr_sink_ops *write;
	/* DIRECTORY formats write to a path: makes the sink (nullable). */
	struct ftr_sink *(*write_new)(const char *path, struct ftr_err *err);
};

static inline bool ftr_format_is_written(const struct ftr_format *format)
{
	return format->write != NULL || format->write_new != NULL;
}

/* Iterate: *pos starts at 0; NULL at the end. */
const struct ftr_format *ftr_format_next(size_t *pos);
const struct ftr_format *ftr_format_find(const char *name);	/* NULL = none of this name */

/* Is there a trace at @path, in a format that is read?  By its content. */
bool ftr_trace_is_at(const char *path);

/* Detect the format of @path and read it.  -ENOENT, -EBADMSG (no format knows it) ... */
int ftr_trace_open(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
		   struct ftr_err *err);

#endif /* FTR_FORMAT_FORMAT_H */
