/* SPDX-License-Identifier: MIT */
/*
 * How far what takes its time is, on a terminal and after a second; while a trace is read also what
 * Ctrl-C does: reading ends, and the result is that of what was read.
 */
#ifndef FTR_CMDS_PROGRESS_H
#define FTR_CMDS_PROGRESS_H

#include <stdint.h>

struct ftr_trace;
struct ftr_watch;

/* What is told while sources are read: a part of the pipeline's options. */
struct ftr_watch *ftr_progress_watch(void);

/* Around the reading of @trace. */
void ftr_progress_begin(const struct ftr_trace *trace);
void ftr_progress_end(void);

/* Around other work on bytes, @doing ("packing", borrowed); how many of them are done. */
void ftr_progress_of_bytes(const char *doing);
void ftr_progress_bytes(uint64_t done, uint64_t all);

/* From now on the terminal shows the result: nothing else may be written to it. */
void ftr_progress_hide(void);

/* Of a command that would end with @status: 130 (128 + SIGINT) instead of 0 when it was ended. */
int ftr_progress_status(int status);

#endif /* FTR_CMDS_PROGRESS_H */
