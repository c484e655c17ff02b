/* SPDX-License-Identifier: MIT */
/*
 * A store before another that keeps no records but their sums, by function and interval, and writes
 * these as the intervals end.  doc/adr/0068-summary.md
 */
#ifndef FTR_RECORD_STORE_SUMMARY_H
#define FTR_RECORD_STORE_SUMMARY_H

#include <pthread.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/hashmap.h"
#include "utils/record/store_dir.h"
#include "utils/record/summing.h"

struct ftr_store_summary {
	struct ftr_store base;		/* first: ops receive a pointer to it */
	struct ftr_store_dir *inner;	/* (borrowed) gets all that is no record */
	uint64_t interval_ns;
	int fd;				/* (owned) of the file; -1 = not open */
	pthread_mutex_t lock;		/* of what follows */
	bool has_begun;			/* something came */
	uint64_t begin_ns;		/* of the interval */
	struct ftr_summing summing;
	struct ftr_summary_block block;
	struct ftr_strbuf text;
	struct ftr_hashmap loads;	/* session id -> struct loaded (owned) */
};

/* Make the file.  0 or -errno, described. */
int  ftr_store_summary_open(struct ftr_store_summary *self, struct ftr_store_dir *inner,
			    unsigned seconds, struct ftr_err *err);
/* A library was loaded into the session at @time_ns: addresses mean something else from then on. */
void ftr_store_summary_loaded(struct ftr_store_summary *self, const char *sid, uint64_t time_ns);
/* It is @now_ns: what an interval that has ended summed up to is written. */
void ftr_store_summary_tick(struct ftr_store_summary *self, uint64_t now_ns);
/* All tasks have ended: the last interval is written. */
void ftr_store_summary_end(struct ftr_store_summary *self);
void ftr_store_summary_close(struct ftr_store_summary *self);

#endif /* FTR_RECORD_STORE_SUMMARY_H */
