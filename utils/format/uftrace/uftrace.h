/* SPDX-License-Identifier: MIT */
/* The uftrace data directory read from any kind of directory (tests, fuzzing). */
#ifndef FTR_FORMAT_UFTRACE_UFTRACE_H
#define FTR_FORMAT_UFTRACE_UFTRACE_H

#include "utils/base/err.h"

struct ftr_dir;
struct ftr_sink;
struct ftr_trace;

#define FTR_UFTRACE_DAT_NAME "%d.dat"	/* by tid: its records */
/* ... and those that uftrace would stop at: ftr_event_kind_is_aside */
#define FTR_UFTRACE_EVENT_NAME "%d.event"
#define FTR_UFTRACE_NOTE "note.txt"	/* free text about the recording, by anybody */
#define FTR_UFTRACE_MERGED_FILE "trace.dat" /* of trace-cmd: what the kernel did meanwhile */

/* elapsed_time in the info that a recorder writes at its start, and replaces at its end. */
#define FTR_UFTRACE_NO_END "0.000000000 sec"

/* Begins MESSAGEs that stand for lines of extern.dat. */
#define FTR_UFTRACE_EXTERN_PREFIX "external-data: "

/* As ftr_format.read_dir; takes @dir over, also on failure. */
int ftr_uftrace_read_dir(struct ftr_trace *trace, struct ftr_dir *dir, struct ftr_err *err);

/* As ftr_format.write_new: the sink writes any trace as a directory. */
struct ftr_sink *ftr_uftrace_export_new(const char *path, struct ftr_err *err);

#endif /* FTR_FORMAT_UFTRACE_UFTRACE_H */
