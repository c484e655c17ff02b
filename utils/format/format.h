/* SPDX-License-Identifier: MIT */
/* The table of formats (formats.def), and opening a trace in whichever of them it is. */
#ifndef FTR_FORMAT_FORMAT_H
#define FTR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/trace/format.h"

struct ftr_ftrace_side;
struct ftr_istream;
struct ftr_kernel_file;

/* Iterate: *pos starts at 0; NULL at the end. */
const struct ftr_format *ftr_format_next(size_t *pos);
const struct ftr_format *ftr_format_find(const char *name);	/* NULL = none of this name */

/* For option rows: names and options of the formats that are written, or that record writes. */
const char *ftr_format_next_written(size_t *pos);
const char *ftr_format_next_recorded(size_t *pos);
ftr_option_set_fn ftr_format_written_options;
ftr_option_set_fn ftr_format_recorded_options;

/* The rows by which ftr dump and ftr check choose one: see struct ftr_format. */
ftr_option_set_fn ftr_format_dump_options;
ftr_option_set_fn ftr_format_check_options;

/*
 * Is there a trace at @path, in a format that is read?  By its content; standard input ("-") and
 * pipes, whose content can be read only once, are taken for one.
 */
bool ftr_trace_is_at(const char *path);

/*
 * Detect the format of @path, a directory, file, pipe, or "-" (standard input), and read it.
 * -ENOENT, -EBADMSG (no format knows it) ...
 */
int ftr_trace_open(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
		   struct ftr_err *err);
/* The same of a data directory, with a file that has what the kernel traced meanwhile. */
int ftr_trace_open_merged(struct ftr_trace **out, const char *path,
			  const struct ftr_kernel_file *kernel, struct ftr_diag *diag,
			  struct ftr_err *err);
/*
 * That side of a trace, of a format that has it: -EBADMSG: another.  @in is moved, if it is kept.
 */
int ftr_kernel_side_open(struct ftr_trace *trace, const char *path, struct ftr_ftrace_side *side,
			 struct ftr_err *err);
int ftr_kernel_side_read(struct ftr_trace *trace, struct ftr_istream *in,
			 struct ftr_ftrace_side *side, struct ftr_err *err);
/* The same, but it may be a growing one: see wants_growing of struct ftr_trace. */
int ftr_trace_open_growing(struct ftr_trace **out, const char *path, struct ftr_diag *diag,
			   struct ftr_err *err);
/*
 * The same, and of a data directory that is being recorded, too.  @consumes: the room on disk of
 * what was read is given back, so that nobody else can read it.
 */
int ftr_trace_follow(struct ftr_trace **out, const char *path, bool consumes,
		     struct ftr_diag *diag, struct ftr_err *err);

#endif /* FTR_FORMAT_FORMAT_H */
