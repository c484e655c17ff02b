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
struct ftr_ftrace_side;
struct ftr_syscall;

/* Writing what ftr record --syscalls observes, while the program runs. */
struct ftr_observed_ops {
	size_t   size;			/* bytes of the writer */
	uint32_t failures;		/* FTR_BIT() of the kinds whose failed calls it can hold */
	/* @out outlives the writer; @values: of the format's options, NULL when it has none. */
	void (*begin)(void *writer, struct ftr_ostream *out, const void *values);
	int  (*call)(void *writer, const struct ftr_syscall *call);	/* 0 or -ENOMEM */
	void (*fini)(void *writer);
};

/* A file against the rules of its format. */
typedef void ftr_violation_fn(void *arg, const char *text);	/* "NAME:LINE: text" */
struct ftr_check_result {
	size_t   record_nr;
	unsigned violation_nr;
};

struct ftr_format {
	const char *name;		/* of --format: "fxt" */
	const char *other_name;		/* (nullable) that --format takes, too, but does not list */
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
	/* Read of @in, a file, no more than what the kernel traced, for who has the rest. */
	int (*read_kernel)(struct ftr_trace *trace, struct ftr_istream *in,
			   struct ftr_ftrace_side *side, struct ftr_err *err);
	bool needs_file;	/* looks at its input more than once: a pipe is copied to disk */
	bool may_grow;		/* ... unless it is wanted as it comes: trace->wants_growing */

	/* Writing (NULL = read only).  FILE: sink->out is the file. */
	const struct ftr_sink_ops *write;
	/* DIRECTORY formats write to a path: makes the sink (nullable). */
	struct ftr_sink *(*write_new)(const char *path, struct ftr_err *err);
	/* What ftr record can write: the data directory of its recorder, or what is observed. */
	bool is_data_directory;
	const struct ftr_observed_ops *observed;	/* (nullable) FILE: needs --syscalls */

	/* Report where @in breaks the format's rules (nullable).  0 or -ENOMEM. */
	int (*check)(struct ftr_istream *in, ftr_violation_fn *violation, void *arg,
		     struct ftr_check_result *result);

	/* One row each, or none: the format's own options of ftr dump and ftr check. */
	struct ftr_option dump_option[2], check_option[2];

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

static inline bool ftr_format_is_recorded(const struct ftr_format *format)
{
	return format->is_data_directory || format->observed != NULL;
}

/* A format, and a file that is said to be in it: what a check_option fills. */
struct ftr_format_file {
	const struct ftr_format *format;	/* (nullable: not given) */
	const char *path;
};

ftr_option_parse_fn ftr_opt_dump_format;	/* const struct ftr_format *: that of the row */
ftr_option_parse_fn ftr_opt_check_format;	/* struct ftr_format_file */

/* ftr dump --NAME */
#define FTR_FORMAT_DUMP_OPTION(name_) \
	{ { .name = (name_), .help = "Same as --format=" name_, .parse = ftr_opt_dump_format } }
/* ftr check --NAME FILE */
#define FTR_FORMAT_CHECK_OPTION(name_, help_) \
	{ { .name = (name_), .arg = "FILE", .help = (help_), .parse = ftr_opt_check_format } }

#endif /* FTR_TRACE_FORMAT_H */
