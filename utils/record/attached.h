/* SPDX-License-Identifier: MIT */
/*
 * The helper process that attaches to a program, or leaves it, while the recorder goes on answering
 * what the program asks and reading what it records.
 */
#ifndef FTR_RECORD_ATTACHED_H
#define FTR_RECORD_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/attach.h"

struct ftr_record_attached {
	pid_t helper;
	int fd;			/* its answer comes here */
	bool is_leaving;
};

struct ftr_record_attached_job {
	int32_t pid;
	const char *runtime;
	const char *address;	/* of our channel; NULL = leave the program */
};

/* Begin.  One that leaves goes on when the recorder dies, one that attaches dies with it. */
int ftr_record_attached_start(struct ftr_record_attached *self,
			      const struct ftr_record_attached_job *job, struct ftr_err *err);

/*
 * 1: done, with *report; 0: not yet; -errno: it failed.  After another answer than 0 it is over.
 */
int ftr_record_attached_poll(struct ftr_record_attached *self, struct ftr_attach_report *report,
			     struct ftr_err *err);

#endif /* FTR_RECORD_ATTACHED_H */
