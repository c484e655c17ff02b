/* SPDX-License-Identifier: MIT */
/* From a stopped task's system call to records: one row a call. */
#ifndef FTR_OBSERVE_DECODE_H
#define FTR_OBSERVE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/etrace/etrace.h"
#include "utils/observe/tracee.h"

/* Buffers that one record at a time uses. */
struct ftr_syscall_scratch {
	struct ftr_strbuf cmdline;
	struct ftr_strbuf text;
	FTR_VEC(struct ftr_slice) argv;
};

struct ftr_syscall_decoding {
	struct ftr_tracee *tracee;
	struct ftr_syscall_scratch *scratch;
	struct ftr_etrace_record rec;		/* upid and times are filled in */
	bool has_details;			/* as in struct ftr_observer_sink */
	void (*emit)(void *arg, const struct ftr_etrace_record *rec);
	void *arg;
	/* The traced task of this tid, or 0: for those who name another one. */
	uint64_t (*upid_find)(void *arg, pid_t tid);
};

void ftr_syscall_scratch_fini(struct ftr_syscall_scratch *scratch);

/* The call tracee->call begins: read what it may change. */
void ftr_syscall_begin(struct ftr_syscall_decoding *decoding);

/*
 * Is what comes of it known already?  Then its records, if any, are given out, and it is not looked
 * at again: a close of a descriptor that nobody else can close, an exec, whose success shows by
 * itself.
 */
bool ftr_syscall_foresee(struct ftr_syscall_decoding *decoding);

/* It is done: give out its records.  @result as the kernel returned it, -errno for a failure. */
void ftr_syscall_end(struct ftr_syscall_decoding *decoding, int64_t result);

/* The new image of an exec is in place. */
void ftr_syscall_exec(struct ftr_syscall_decoding *decoding);

/* The clone or fork made the task @peer. */
void ftr_syscall_fork(struct ftr_syscall_decoding *decoding, uint64_t peer);

/* The task ends. */
void ftr_syscall_exit(struct ftr_syscall_decoding *decoding, unsigned wait_status);

/* Is a descriptor of the process open on a comm file? */
bool ftr_syscall_is_comm_fd(const struct ftr_tracee_process *process, int64_t fd);

#endif /* FTR_OBSERVE_DECODE_H */
