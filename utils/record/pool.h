/* SPDX-License-Identifier: MIT */
/* A few threads that share out a number of pieces of work, and wait in between. */
#ifndef FTR_RECORD_POOL_H
#define FTR_RECORD_POOL_H

#include <stddef.h>

#include "utils/base/err.h"

#define FTR_POOL_THREADS_MAX 64

struct ftr_pool;

/* @nr threads, the caller's included, at least 2.  They block all signals. */
int  ftr_pool_open(struct ftr_pool **out, unsigned nr, struct ftr_err *err);
void ftr_pool_close(struct ftr_pool *pool);		/* NULL is fine */

/*
 * Call fn(arg, worker, i) once for each i below @nr, in any order and at the same time in several
 * threads, of which the caller is worker 0.  Returns when all are done.
 */
void ftr_pool_run(struct ftr_pool *pool, void (*fn)(void *arg, unsigned worker, size_t i),
		  void *arg, size_t nr);

#endif /* FTR_RECORD_POOL_H */
