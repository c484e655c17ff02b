/* SPDX-License-Identifier: MIT */
/* Observed system calls added up: by call, by file, or by process. */
#ifndef FTR_ANALYSIS_SYSCALLS_H
#define FTR_ANALYSIS_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/trace/sink.h"

enum ftr_syscalls_by {
	FTR_SYSCALLS_BY_CALL,
	FTR_SYSCALLS_BY_FILE,
	FTR_SYSCALLS_BY_PROCESS,
};

struct ftr_syscalls_row {
	const char *name; /* "openat"; an absolute path; the last command line, blanks between its
			     words */
	int32_t  pid;		/* by process */
	int32_t status; /* by process: as a shell gives it, 128+n for a signal; -1 = not known */
	uint64_t total_ns, min_ns, max_ns;	/* inside of the calls */
	uint64_t calls;
	uint64_t errors;	/* of these: failed */
	uint64_t opens;		/* that succeeded */
	uint64_t reads, writes;	/* of these: for reading, for writing; both count in both */
	uint64_t forks;		/* children, threads not */
	uint64_t processes;	/* that did any of this */
	uint64_t start_ns,
		end_ns; /* of the first call (a child: of its making), of the last one's end */
};

struct ftr_syscalls {
	FTR_VEC(struct ftr_syscalls_row) rows;	/* in the order in which they appeared */
};

/*
 * A sink for a stream ordered by time.  A rename or link counts for both its paths; a file is known
 * by its resolved path, or, where the call failed, by the one asked for.  NULL = out of memory.
 */
struct ftr_sink *ftr_syscalls_new(enum ftr_syscalls_by by, struct ftr_err *err);
/* What it has added up so far; valid as long as the sink. */
const struct ftr_syscalls *ftr_syscalls_get(const struct ftr_sink *sink);

#endif /* FTR_ANALYSIS_SYSCALLS_H */
