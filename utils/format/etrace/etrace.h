/* SPDX-License-Identifier: MIT */
/*
 * The etrace text (doc/ftr-etrace.5): one way to write system calls (trace/syscall.h), and to read
 * them.
 */
#ifndef FTR_FORMAT_ETRACE_ETRACE_H
#define FTR_FORMAT_ETRACE_ETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/format.h"
#include "utils/trace/syscall.h"

#define FTR_ETRACE_CHUNK 900		/* bytes of a text that one line holds at most */
#define FTR_ETRACE_LINE_MAX 2047	/* longer lines stop other readers */

/* ---- writing ---- */

/* The values of a sink of the format; without them it writes Comm, Mount and Umount, too. */
struct ftr_etrace_options {
	bool thread_names;	/* Comm records */
	bool mounts;		/* Mount and Umount records */
	bool skip_repeated_opens;
	bool has_prefix;	/* INITCWD= first, "0: " before each line */
	bool is_extended;	/* Ftr lines: what the format does not hold (data directories) */
};

struct ftr_etrace_writer {
	struct ftr_ostream *out;	/* (borrowed) */
	struct ftr_etrace_options options;
	struct ftr_hashmap tasks;	/* upid -> struct etrace_task */
	struct ftr_arena arena;
	uint64_t next_ns;		/* of the line being written */
	bool was_moved; /* the last record, to a later time: lines of a task ascend */
	bool has_begun;
};

void ftr_etrace_writer_init(struct ftr_etrace_writer *writer, struct ftr_ostream *out,
			    const struct ftr_etrace_options *options);
void ftr_etrace_writer_fini(struct ftr_etrace_writer *writer);

/* Kinds whose failed calls the text can hold; with is_extended it holds all. */
#define FTR_ETRACE_FAILURES                                             \
	(FTR_BIT(FTR_SYSCALL_CLONE) | FTR_BIT(FTR_SYSCALL_RENAME) |     \
	 FTR_BIT(FTR_SYSCALL_LINK) | FTR_BIT(FTR_SYSCALL_MOUNT) |       \
	 FTR_BIT(FTR_SYSCALL_UMOUNT))

/*
 * Write one call; calls that the options leave out are not written.  0 or -ENOMEM; failures to
 * write stay in writer->out.
 */
int ftr_etrace_write(struct ftr_etrace_writer *writer, const struct ftr_syscall *call);

/* ---- reading ---- */

/* All calls of a text, by end_ns; the two halves of a rename are one. */
struct ftr_etrace_log {
	FTR_VEC(struct ftr_syscall) calls;
	struct ftr_arena arena;		/* their texts */
	const char *init_cwd;		/* of INITCWD= (nullable) */
	unsigned violations;		/* of the format, found while reading */
	bool is_whole;			/* set before loading: all tasks must be announced, as
					 * they are unless some were left out */
};

void ftr_etrace_log_init(struct ftr_etrace_log *log);
void ftr_etrace_log_fini(struct ftr_etrace_log *log);

/*
 * Read a text.  What breaks the format is reported and counted, and the rest is read: lines of
 * several CPUs may be interleaved, parts may be missing, both spellings of the end markers are
 * fine. 0 or -ENOMEM.
 */
int ftr_etrace_load(struct ftr_etrace_log *log, struct ftr_istream *in,
		    ftr_violation_fn *violation, void *arg);

/* Does a file that begins like this hold etrace text? */
bool ftr_etrace_detect(const char *path, const uint8_t *head, size_t len);

#endif /* FTR_FORMAT_ETRACE_ETRACE_H */
