/* SPDX-License-Identifier: MIT */
/*
 * The files of a data directory that hold stacks, which other readers ignore: of its system calls,
 * and of calls that were recorded with theirs (events ftr:backtrace).  Lines, whose fields are
 * separated by tabs:
 *
 *	F NUMBER OFFSET START PATH NAME		a place in a module: where its function starts;
 *						numbers in hex, no NAME: not known
 *	S NUMBER FRAME[,FRAME...]		a stack, the innermost frame first
 *
 * Numbers count from 1, those of frames and stacks apart, in each file.  The text of system calls
 * has them as stack=NUMBER of its Ftr lines.
 */
#ifndef FTR_FORMAT_UFTRACE_STACKS_H
#define FTR_FORMAT_UFTRACE_STACKS_H

#include "utils/base/err.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"

#define FTR_STACKS_FILE "syscalls.stacks"
#define FTR_CALL_STACKS_FILE "calls.stacks"

struct ftr_stacks;
struct ftr_trace;

/* What an F line says. */
struct ftr_uftrace_frame {
	const char *path;
	uint64_t offset, name_offset;
	const char *name;		/* (nullable) mangled */
};

/* Create the file in directory @dir, an open descriptor; @out owns it.  0 or -errno. */
int ftr_uftrace_stacks_open(struct ftr_ostream *out, int dir, struct ftr_err *err);
/* Append a line. */
void ftr_uftrace_stacks_frame(struct ftr_strbuf *text, uint32_t number,
			      const struct ftr_uftrace_frame *frame);
void ftr_uftrace_stacks_stack(struct ftr_strbuf *text, uint32_t number, const uint32_t *frames,
			      size_t nr);

/* Append the lines of all that @stacks (nullable) has.  0 or -ENOMEM. */
int ftr_uftrace_stacks_text(const struct ftr_stacks *stacks, struct ftr_strbuf *text);

/* Read them into *@stacks, which is NULL.  Damage is warned about.  0 or -ENOMEM. */
int ftr_uftrace_stacks_load(struct ftr_trace *trace, struct ftr_istream *in,
			    struct ftr_stacks **stacks);

#endif /* FTR_FORMAT_UFTRACE_STACKS_H */
