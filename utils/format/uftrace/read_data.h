/* SPDX-License-Identifier: MIT */
/* The source over one task's records; for uftrace/read_data.c and read_run.c only. */
#ifndef FTR_FORMAT_UFTRACE_READ_DATA_H
#define FTR_FORMAT_UFTRACE_READ_DATA_H

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read.h"
#include "utils/proto/record.h"
#include "utils/trace/source.h"

#define UFT_RECORD_BYTES sizeof(struct ftr_record)
#define UFT_JUMP_NS	 FTR_BIT64(32)	/* a longer step is looked at twice */
/* A record with the longest payload that is taken for one, and the record behind it. */
#define UFT_RECORD_ROOM	 FTR_KIB(128)

#define UFT_NOWHERE	 UINT64_MAX	/* an event has no record in the file */

struct uft_runs;
struct uft_prefix;
struct uft_index;
struct uft_mark;

struct uft_data {
	struct ftr_source base;
	struct uft_reader *reader;
	struct uft_task *data;
	const struct ftr_istream *in;	/* (borrowed) of the task's */
	struct uft_pins pins;		/* what of it is unpacked for us */
	struct ftr_diag *diag;	/* (borrowed, nullable) */
	const uint8_t *p;
	const uint8_t *ready;	/* up to here it is */
	const uint8_t *end;
	uint64_t last_ns;
	uint64_t special_ns;	/* records from here on need more than the fast path */
	uint64_t context_ns;	/* when the session or its map changes next */
	struct ftr_session *session;	/* (nullable) */
	uint32_t context;
	size_t side_pos;
	size_t inherit_pos;	/* calls of the parent that were handed out */
	size_t inherit_nr;	/* ... of so many */
	bool is_started;
	struct uft_estimate estimate;
	size_t window_pos;	/* how far the file was asked into memory */
	bool is_back_reported;
	bool is_growing;	/* what is not whole at the end may become so */
	struct uft_runs *runs;	/* (owned, nullable) of TID.dat */
	struct ftr_seek seek;	/* what has not to be handed out */
	struct uft_prefix *prefix;	/* (owned, nullable) what is read before all behind it */
	uint64_t *offsets;	/* (borrowed, nullable) told where each event's record lies */
	uint64_t at;		/* where the one lies that was made last, off the fast path */
	/* An event is as large as a cache line: none should lie in two. */
	_Alignas(FTR_CACHE_LINE) struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
};

static inline size_t uft_offset_of(const struct uft_data *self, const uint8_t *p)
{
	return (size_t)(p - self->in->data);
}

static inline uint64_t uft_record_time(const struct uft_data *self, const uint8_t *p)
{
	return ftr_get_u64(p, self->reader->is_big);
}

static inline uint64_t uft_record_word(const struct uft_data *self, const uint8_t *p)
{
	return ftr_get_u64(p + 8, self->reader->is_big);
}

static inline bool uft_word_is_record(uint64_t word)
{
	return (word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC;
}

/* The function of a record, by the reader's cache; NULL = out of memory. */
const struct ftr_func *uft_data_func(struct uft_data *self, uint64_t time_ns, uint64_t addr);
/* Hand out the calls that the task was forked in.  0 or -ENOMEM. */
int uft_data_start(struct uft_data *self);

/* Go on with the side event at @pos. */
void uft_data_side_at(struct uft_data *self, size_t pos);

/* The file has grown, and may lie elsewhere: the source goes on at @pos in it. */
void uft_data_grow(struct uft_data *self, size_t pos, bool is_final);

/*
 * uftrace/read_seek.c: before the first event, pass over what self->seek says.  0 or -errno,
 * described.
 */
int uft_data_seek(struct uft_data *self, struct ftr_err *err);
/* Begin at @mark.  0, -EBADMSG (it is none) or -ENOMEM. */
int uft_prefix_set(struct uft_data *self, const struct uft_index *index,
		   const struct uft_mark *mark);
/* After an event, with a prefix: was it of a record?  Then p is at the next, elsewhere. */
bool uft_prefix_step(struct uft_data *self);
/* With a prefix: the place of the side event behind that at self->side_pos. */
size_t uft_prefix_side(struct uft_data *self);
void uft_prefix_drop(struct uft_data *self);
/* Bytes from one mark to the next, at least. */
size_t uft_index_step(const struct uft_reader *reader);

/*
 * uftrace/read_damage.c: go on at the next record that makes sense, not before @at.  Returns how
 * many bytes were passed over.
 */
size_t uft_data_resync(struct uft_data *self, const uint8_t *at);
/* What is left from @at on is not all of @what: that is told, and is the end. */
void uft_data_cut(struct uft_data *self, const uint8_t *at, const char *what);
/*
 * Pass over a call's values that do not fit, or whose layout nothing tells (@is_unknown), which is
 * told once.
 */
void uft_values_skip(struct uft_data *self, bool is_unknown);
/* A time that steps far ahead, when the next record's does not, or back: mend it. */
uint64_t uft_time_mend(struct uft_data *self, uint64_t time_ns);

/* uftrace/read_window.c: keep a window around self->p, which general reading is at. */
void uft_window_move(struct uft_data *self);
/*
 * What comes at p is handed out next, and what was before it is needed no more.  0 or -ENOMEM, as
 * of the next.
 */
int uft_window_begin(struct uft_data *self);
/* Have so many bytes behind p in memory, up to the end: of packed data, others are always there. */
int uft_window_need(struct uft_data *self, size_t bytes);
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

/* What is counted at one depth while a run is made (read_match.h); a cache line. */
struct uft_frame {
	uint64_t word;		/* of the ENTRYs of its calls; an odd one = of none */
	uint64_t start_ns;	/* of the last call */
	uint64_t self_ns;	/* since it was made */
	uint64_t before_ns;	/* ... until the last call began */
	uint64_t below_ns;	/* what frames above it had counted when they were settled */
	uint64_t calls;		/* that ended, and count */
	uint64_t counted_ns;	/* with a threshold: when the first of them began */
	uint32_t sum;
	bool is_nested;		/* by func: in another call of its function */
};

struct uft_chunk {
	size_t from, to;	/* what it was made of; runs need not cover it */
	struct ftr_run_wish wish;
	bool is_out_of_memory;
	bool is_thin;		/* its last run was no gain; what is left of it is not made */
	bool is_left;		/* nothing of it is made */
	FTR_VEC(struct uft_run) runs;	/* in order */
	FTR_VEC(struct ftr_run_sum) sums;
	FTR_VEC(struct ftr_run_end) ends;
	FTR_VEC(struct ftr_run_open) opens;
	FTR_VEC(struct uft_frame) frames;	/* while it is made: [0] is the base */
	uint16_t *slots;
};

/* Make @chunk, zeroed or used before, of the bytes from @from to @to. */
void uft_chunk_make(struct uft_chunk *chunk, const struct uft_task *task, bool is_big, size_t from,
		    size_t to);
void uft_chunk_fini(struct uft_chunk *chunk);

/* uftrace/read_run.c: the runs of a source over TID.dat. */
void uft_data_wish(struct ftr_source *source, const struct ftr_run_wish *wish);
int  uft_data_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err);
/* Step over the run that was offered last, if it was taken. */
void uft_runs_settle(struct uft_data *self);
/* Is what is handed out as events only what lies between runs? */
bool uft_runs_prevail(const struct uft_data *self);
/* Does a run that is made already begin at @p? */
bool uft_runs_begin_at(const struct uft_data *self, const uint8_t *p);
void uft_runs_free(struct uft_runs *runs);	/* NULL is fine */

#endif /* FTR_FORMAT_UFTRACE_READ_DATA_H */
