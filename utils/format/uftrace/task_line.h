/* SPDX-License-Identifier: MIT */
/* A line of task.txt of a uftrace directory, read and written. */
#ifndef FTR_FORMAT_UFTRACE_TASK_LINE_H
#define FTR_FORMAT_UFTRACE_TASK_LINE_H

#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/text.h"

enum ftr_task_line_kind {
	FTR_TASK_LINE_SESSION,	/* pid, sid, name: the executable */
	FTR_TASK_LINE_TASK,	/* tid, pid */
	FTR_TASK_LINE_FORK,	/* pid, ppid */
	FTR_TASK_LINE_DLOPEN,	/* tid, sid, base, name: the library */
	FTR_TASK_LINES
};

struct ftr_task_line {
	enum ftr_task_line_kind kind;
	uint64_t time_ns;
	int32_t  pid, tid, ppid;
	char     sid[17];
	uint64_t base;
	struct ftr_slice name;		/* (borrowed) s = NULL: there is none */
};

/* 0, -ENOENT (an unknown keyword), or -EINVAL. */
int  ftr_task_line_parse(struct ftr_slice text, struct ftr_task_line *line);
/* Appended, with its newline. */
void ftr_task_line_put(struct ftr_strbuf *text, const struct ftr_task_line *line);

#endif /* FTR_FORMAT_UFTRACE_TASK_LINE_H */
