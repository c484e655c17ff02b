/* SPDX-License-Identifier: MIT */
/*
 * A format, in or out: a file that ends in one const struct.  utils/format has those that hold a
 * trace, utils/export those that show sums or pictures; utils/format/formats.def lists both.
 */
#ifndef FTR_TRACE_FORMAT_H
#define FTR_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/istream.h"
#include "utils/base/option.h"
#include "utils/trace/sink.h"
#include "utils/trace/trace.h"

enum ftr_format_kind {
	FTR_FORMAT_FILE,	/* one file */
	FTR_FORMAT_DIRECTORY,
};

struct ftr_dir;

struct ftr_format {
	const char *name;		/* of --format: "fxt" */
	const char *summary;		/* one line for --help */
	const char *suffix;		/* ".fxt" (nullable) */
	enum ftr_format_kind kind;

	/* Reading (NULL = write only).  @head: the first bytes of the file (DIRECTORY: unused). */
	bool (*detect)(const char *path, const uint8_t *head, size_t len);
	/*
	 * Fill a new trace: info, tasks, sessions, sources.  Damage is warned about (trace->diag),
	 * what is left is read; -errno only when nothing can be shown.  FILE: @in may be refilled,
	 * unless needs_file; a reader that keeps it moves it into its own and leaves zeros.
	 */
	int (*read_file)(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);
	/* DIRECTORY: takes @dir over, also on failure. */
	int (*read_dir)(struct ftr_trace *trace, struct ftr_dir *dir, struct ftr_err *err);
	bool needs_file;	/* looks at its input more than once: a pipe is copied to disk */

	/* Writing (NULL = read only).  FILE: sink->out is the file. */
	const struct ftr_sink_ops *write;
	/* DIRECTORY formats write to a path: makes the sink (nullable). */
	struct ftr_sink *(*write_new)(const char *path, struct ftr_err *err);
	bool is_recorded;	/* ftr record can write it while the program runs */

	/* Options of writing (nullable): rows, and the struct they fill, which is sink->values. */
	const struct ftr_option *options;
	size_t values_bytes;
	const void *defaults;		/* (nullable: zeros) */
};

static inline bool ftr_format_is_read(const struct ftr_format *format)
{
	return format->read_file != NULL || format->read_dir != NULL;
}

static inline bool ftr_format_is_written(const struct ftr_format *format)
{
	return format->write != NULL || format->write_new != NULL;
}

#endif /* FTR_TRACE_FORMAT_H */
