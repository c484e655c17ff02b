/* SPDX-License-Identifier: MIT */
/*
 * Who answers what a page asks for: a process for each request, so that several are answered at
 * once, each by the trace as it is then, and damage of any kind costs one answer.
 */
#ifndef FTR_CMDS_VIEW_WORKER_H
#define FTR_CMDS_VIEW_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/view_serve.h"
#include "utils/base/vec.h"

struct ftr_view_worker {
	pid_t pid;
	int   fd;			/* what it writes */
	FTR_VEC(char) text;		/* read of that */
	bool  is_done;			/* text is the answer, or the failure as JSON */
	bool  has_failed;
};

/* 0 or -errno. */
int  ftr_view_worker_start(struct ftr_view_worker *worker, const struct ftr_view_site *site,
			   const struct ftr_view_request *request);
/* Read what is there; is_done tells whether that was the end. */
void ftr_view_worker_read(struct ftr_view_worker *worker);
/* End it, if it still works, and release what it has. */
void ftr_view_worker_fini(struct ftr_view_worker *worker);

#endif /* FTR_CMDS_VIEW_WORKER_H */
