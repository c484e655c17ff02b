/* SPDX-License-Identifier: MIT */
/* The recorder's end of the control block: a sealed memfd, and a futex that dies with it. */
#ifndef FTR_RECORD_CONTROL_H
#define FTR_RECORD_CONTROL_H

#include "utils/base/err.h"
#include "utils/proto/control.h"

struct ftr_control_block {
	struct ftr_control *map;	/* (owned mapping) shared with the traced processes */
	int fd;				/* (owned) handed out; can be mapped for reading only */
};

/* Make the block with the values of @init.  0 or -errno. */
int  ftr_control_open(struct ftr_control_block *block, const struct ftr_control *init,
		      struct ftr_err *err);
void ftr_control_close(struct ftr_control_block *block);

/*
 * Let the kernel mark recorder_futex when the calling thread ends, however that happens.  Replaces
 * the thread's robust list: it may hold no robust mutex of libc.
 */
int  ftr_control_hold(struct ftr_control_block *block, struct ftr_err *err);

/* Have every traced process stop recording. */
void ftr_control_stop(struct ftr_control_block *block);

#endif /* FTR_RECORD_CONTROL_H */
