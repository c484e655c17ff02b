/* SPDX-License-Identifier: MIT */
/* From a stopped task to the system calls that its observer reports. */
#ifndef FTR_OBSERVE_DECODE_H
#define FTR_OBSERVE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/trace/syscall.h"

struct ftr_observer;
struct ftr_tracee;

struct ftr_decoding {
	struct ftr_observer *observer;	/* (borrowed) whose sink gets the calls */
	struct ftr_tracee *tracee;	/* (borrowed) the stopped task */
	struct ftr_syscall call;	/* upid and times are filled in by the caller */
};

/* The call tracee->call begins: read what it may change. */
void ftr_decode_begin(struct ftr_decoding *d);

/*
 * Is the outcome known already?  Then it is reported, and the call's end needs no stop: a close of
 * a descriptor that no other task can close, an exec, whose success has an event of its own.
 */
bool ftr_decode_foresee(struct ftr_decoding *d);

/* It has ended: report it.  @result as the kernel returned it, -errno for a failure. */
void ftr_decode_end(struct ftr_decoding *d, int64_t result);

/* The new image of an exec is in place. */
void ftr_decode_exec(struct ftr_decoding *d);

/* The task has made another, whose upid is @child; by @id when not by a call that it is in. */
void ftr_decode_fork(struct ftr_decoding *d, enum ftr_sysid id, uint64_t child);

/* The task ends, with a status as of wait. */
void ftr_decode_exit(struct ftr_decoding *d, int wait_status);

#endif /* FTR_OBSERVE_DECODE_H */
