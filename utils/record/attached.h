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

enum ftr_record_attached_work {
	FTR_ATTACHED_BEGIN,
	FTR_ATTACHED_CODE,	/* of what was loaded since */
	FTR_ATTACHED_LEAVE,
};

struct ftr_record_attached {
	pid_t helper;		/* 0 = there is none */
	int32_t pid;		/* whose program it is at */
	int fd;			/* its answer comes here */
	enum ftr_record_attached_work work;
};

struct ftr_record_attached_job {
	enum ftr_record_attached_work work;
	int32_t pid;
	const char *runtime;
	const char *address;	/* BEGIN: of our channel */
	uint64_t codes, code_nr;	/* CODE: struct ftr_attach_code in the program */
	const uint64_t *chosen;	/* ... which of them: see struct ftr_attach_codes */
	size_t chosen_nr;
};

/* Begin.  One that leaves goes on when the recorder dies, others die with it. */
int ftr_record_attached_start(struct ftr_record_attached *self,
			      const struct ftr_record_attached_job *job, struct ftr_err *err);

/*
 * 1: done, with *report; 0: not yet; -errno: it failed.  After another answer than 0 it is over.
 */
int ftr_record_attached_poll(struct ftr_record_attached *self, struct ftr_attach_report *report,
			     struct ftr_err *err);

#endif /* FTR_RECORD_ATTACHED_H */
