/* SPDX-License-Identifier: MIT */
/* The store that writes a data directory. */
#ifndef FTR_RECORD_STORE_DIR_H
#define FTR_RECORD_STORE_DIR_H

#include <pthread.h>

#include "utils/base/err.h"
#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"
#include "utils/record/ring.h"
#include "utils/record/store.h"
#include "utils/record/store_pack.h"

/* Descriptors by CPU, -1 = no file. */
struct ftr_store_cpu_files {
	int *v;			/* (owned) */
	size_t nr, cap;
};

/* A file that only ftr knows. */
struct ftr_store_extra {
	char name[FTR_STORE_NAME_MAX];
	int fd;			/* (owned) */
};

struct ftr_store_dir {
	struct ftr_store base;			/* first: ops receive a pointer to it */
	struct ftr_uftrace_dir *dir;		/* (owned) */
	struct ftr_diag *diag;			/* (borrowed, nullable) */
	struct ftr_hashmap by_tid;		/* tid -> struct ftr_store_task (owned) */
	FTR_VEC(int32_t) tids;			/* sorted when the info is written */
	struct ftr_store_cpu_files perf;	/* perf-cpuN.dat */
	struct ftr_store_cpu_files kernel;	/* kernel-cpuN.dat */
	FTR_VEC(struct ftr_store_extra) extras;
	pthread_mutex_t lock;			/* of what follows: several threads append */
	uint64_t records;			/* written */
	uint64_t calls;				/* ... ENTRYs of them */
	uint64_t bytes;				/* of records and perf events */
	uint64_t last_ns;			/* latest time of any */
	uint64_t lost[FTR_LOST_CAUSES];
	struct ftr_ring_untraced untraced;
	bool is_packed;				/* files of records are packed */
	struct ftr_store_packs packs;		/* ... by these */
	bool has_sums;				/* ... of calls, and no records: no TID.dat */
	bool is_closed;				/* what comes now is not part of the recording */
	bool has_events;			/* events.txt is there */
	bool has_stacks;			/* ... and names ftr:stack */
	bool has_perf;				/* there are perf-cpuN.dat files */
	bool has_kernel;			/* there are kernel-cpuN.dat files */
	bool has_failed;			/* writing failed, and that was said */
};

int  ftr_store_dir_open(struct ftr_store_dir *store, const char *path, struct ftr_diag *diag,
			struct ftr_err *err);
/* Nothing more comes: what is held back of packed files is written. */
void ftr_store_dir_settle(struct ftr_store_dir *store);
void ftr_store_dir_close(struct ftr_store_dir *store);

/* The task of @tid, made when it is new (*is_new says so); NULL when out of memory. */
struct ftr_store_task *ftr_store_dir_task(struct ftr_store_dir *store, int32_t tid, int32_t pid,
					  bool *is_new);

/* A line of task.txt or a file could not be written: said once, counted no more. */
void ftr_store_dir_failed(struct ftr_store_dir *store, const char *what, int code);

#endif /* FTR_RECORD_STORE_DIR_H */
