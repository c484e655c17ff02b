/* SPDX-License-Identifier: MIT */
/*
 * What a process did to processes and files, one record a system call: the unit of the etrace text,
 * of the observer (record/observer.h) and of what is derived from both.
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

#define FTR_ETRACE_CHUNK 900		/* bytes of a text that one line holds at most */
#define FTR_ETRACE_LINE_MAX 2047	/* longer lines stop other readers */
#define FTR_ETRACE_PID_BITS 22		/* of a upid: serial number << 22 | tid */
#define FTR_ETRACE_TEXTS 4
#define FTR_SYSCALL_FILE "syscalls.etrace"	/* of a data directory, with Ftr lines */
#define FTR_SYSCALL_MODULE "[syscalls]"	/* of the functions that stand for the calls in traces */

enum ftr_etrace_kind {
	FTR_ETRACE_EXEC,    /* text: interpreter, program, cwd; argv */
	FTR_ETRACE_FORK,    /* peer */
	FTR_ETRACE_CLONE,   /* flags; peer, or is_failed */
	FTR_ETRACE_EXIT,    /* status; signal */
	FTR_ETRACE_OPEN,    /* text: resolved (nullable), as asked for; flags, mode, fd */
	FTR_ETRACE_PIPE,    /* fd, fd2, flags */
	FTR_ETRACE_RENAME,  /* text: from (nullable), to, -, from as asked for where it could not be
			       found */
	FTR_ETRACE_RENAME2, /* and flags */
	FTR_ETRACE_LINK,    /* text: as of a rename */
	FTR_ETRACE_LINKAT,  /* and flags */
	FTR_ETRACE_SYMLINK, /* text: target, resolved target (nullable), link */
	FTR_ETRACE_CLOSE,   /* fd */
	FTR_ETRACE_DUP,     /* fd, fd2, flags */
	FTR_ETRACE_MOUNT,  /* text: source (nullable), target (nullable), type (nullable), target as
			    * asked  for where it could not be found; flags */
	FTR_ETRACE_UMOUNT, /* text: -, target (nullable), -, as for a mount; flags */
	FTR_ETRACE_COMM,   /* text: name */
	FTR_ETRACE_KINDS
};

/* Texts are not NUL-terminated; .s == NULL: there is none. */
struct ftr_etrace_record {
	uint64_t upid;
	uint64_t start_ns;	/* the call began; = time_ns where that is not known */
	uint64_t time_ns;	/* it was done, CLOCK_MONOTONIC */
	uint32_t cpu;
	uint8_t  kind;		/* enum ftr_etrace_kind */
	bool     is_failed;
	bool is_begin; /* first half of a rename or link: its end follows in a record of its own */
	bool     is_end;	/* that end, written after its beginning */
	int32_t  error;		/* errno of a failed call, 0 = not known */
	const char *call;	/* the kernel's name of the call, "openat2" (nullable: not known) */
	uint64_t peer;		/* upid of the child */
	int64_t  fd, fd2;
	int64_t  flags;
	int64_t  mode;
	int64_t  status;	/* of an exit, 0..255 */
	int32_t  signal;	/* that ended the task, 0 = none or not known */
	struct ftr_slice text[FTR_ETRACE_TEXTS];
	const struct ftr_slice *argv;
	size_t   argc;
};

static inline int32_t ftr_etrace_tid(uint64_t upid)
{
	return (int32_t)(upid & ((1u << FTR_ETRACE_PID_BITS) - 1));
}

/* "openat", or what the kind is called when the record does not say. */
const char *ftr_etrace_call(const struct ftr_etrace_record *rec);

/* Can the format say that such a call failed? */
bool ftr_etrace_has_failure(enum ftr_etrace_kind kind);

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

/* Write one record.  Those the options leave out are not written.  0 or -ENOMEM. */
int ftr_etrace_write(struct ftr_etrace_writer *writer, const struct ftr_etrace_record *rec);

/* The record that an event ends, or is; NULL = it stands for none. */
struct ftr_event;
const struct ftr_etrace_record *ftr_etrace_of_event(const struct ftr_event *ev);
/* Is this a call that stands for one? */
struct ftr_func;
bool ftr_etrace_is_call(const struct ftr_func *func);

/* ---- reading ---- */

/* All records of a text, by time; the two halves of a rename are one record. */
struct ftr_etrace_log {
	FTR_VEC(struct ftr_etrace_record) records;
	struct ftr_arena arena;		/* their texts */
	const char *init_cwd;		/* of INITCWD= (nullable) */
	unsigned violations;		/* of the format, found while reading */
};

/* Is told each violation: "NAME:LINE: text". */
typedef void ftr_etrace_violation_fn(void *arg, const char *text);

void ftr_etrace_log_init(struct ftr_etrace_log *log);
void ftr_etrace_log_fini(struct ftr_etrace_log *log);

/*
 * Read a text.  What breaks the format is reported and counted, and the rest is read: lines of
 * several CPUs may be interleaved, parts may be missing, both spellings of the end markers are
 * fine. 0 or -ENOMEM.
 */
int ftr_etrace_load(struct ftr_etrace_log *log, struct ftr_istream *in,
		    ftr_etrace_violation_fn *violation, void *arg);

/* Does a file that begins like this hold etrace text? */
bool ftr_etrace_detect(const char *path, const uint8_t *head, size_t len);

#endif /* FTR_FORMAT_ETRACE_ETRACE_H */
