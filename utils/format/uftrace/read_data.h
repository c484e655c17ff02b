/* SPDX-License-Identifier: MIT */
/* The source over one task's records; for uftrace/read_data.c and read_run.c only. */
#ifndef FTR_FORMAT_UFTRACE_READ_DATA_H
#define FTR_FORMAT_UFTRACE_READ_DATA_H

#include "utils/format/uftrace/read.h"
#include "utils/proto/record.h"
#include "utils/trace/source.h"

#define UFT_RECORD_BYTES sizeof(struct ftr_record)
#define UFT_JUMP_NS	 FTR_BIT64(32)	/* a longer step is looked at twice */

struct uft_runs;

struct uft_data {
	struct ftr_source base;
	struct uft_reader *reader;
	struct uft_task *data;
	const struct ftr_istream *in;	/* (borrowed) of the task's */
	struct ftr_diag *diag;	/* (borrowed, nullable) */
	const uint8_t *p;
	const uint8_t *end;
	uint64_t last_ns;
	uint64_t special_ns;	/* records from here on need more than the fast path */
	uint64_t context_ns;	/* when the session or its map changes next */
	struct ftr_session *session;	/* (nullable) */
	uint32_t context;
	size_t side_pos;
	size_t inherit_pos;	/* calls of the parent that were handed out */
	bool is_started;
	struct uft_estimate estimate;
	size_t window_pos;	/* how far the file was asked into memory */
	bool is_back_reported;
	struct uft_runs *runs;	/* (owned, nullable) of TID.dat */
	/* An event is as large as a cache line: none should lie in two. */
	_Alignas(FTR_CACHE_LINE) struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
};

/* The function of a record, by the reader's cache; NULL = out of memory. */
const struct ftr_func *uft_data_func(struct uft_data *self, uint64_t time_ns, uint64_t addr);
/* Hand out the calls that the task was forked in.  0 or -ENOMEM. */
int uft_data_start(struct uft_data *self);

/* uftrace/read_window.c: keep a window around self->p, which general reading is at. */
void uft_window_move(struct uft_data *self);
/* ... when runs are taken again. */
void uft_window_leave(struct uft_data *self);
/* The bytes of a mapped file are not needed again soon. */
void uft_window_forget(const struct ftr_istream *in, size_t from, size_t to);

/* uftrace/read_chunk.c: one piece of TID.dat as runs, a function of these bytes alone. */
struct uft_run {
	size_t from, to;	/* offsets in the file */
	uint64_t limit_ns;	/* it ends before: when something is that is no record */
	uint64_t first_ns, last_ns;
	uint64_t outside_ns;
	uint32_t base_depth;
	size_t sum_at, sum_nr;	/* where its parts lie in the chunk's */
	size_t end_at, end_nr;
	size_t open_at, open_nr;
};

struct uft_chunk {
	size_t from, to;	/* what it was made of; runs need not cover it */
	enum ftr_run_kind kind;
	bool is_out_of_memory;
	FTR_VEC(struct uft_run) runs;	/* in order */
	FTR_VEC(struct ftr_run_sum) sums;
	FTR_VEC(struct ftr_run_end) ends;
	FTR_VEC(struct ftr_run_open) opens;
	FTR_VEC(struct ftr_run_open) frames;	/* while it is made */
	uint16_t *slots;
};

/* Make @chunk, zeroed or used before, of the bytes from @from to @to. */
void uft_chunk_make(struct uft_chunk *chunk, const struct uft_task *task, bool is_big, size_t from,
		    size_t to);
void uft_chunk_fini(struct uft_chunk *chunk);

/* uftrace/read_run.c: the runs of a source over TID.dat. */
int uft_data_run(struct ftr_source *source, enum ftr_run_kind kind, struct ftr_run **run,
		 struct ftr_err *err);
/* Step over the run that was offered last, if it was taken. */
void uft_runs_settle(struct uft_data *self);
/* Is what is handed out as events only what lies between runs? */
bool uft_runs_prevail(const struct uft_data *self);
/* Does a run that is made already begin at @p? */
bool uft_runs_begin_at(const struct uft_data *self, const uint8_t *p);
void uft_runs_free(struct uft_runs *runs);	/* NULL is fine */

#endif /* FTR_FORMAT_UFTRACE_READ_DATA_H */
