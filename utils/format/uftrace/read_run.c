/* SPDX-License-Identifier: MIT */
/*
 * Which chunk of TID.dat becomes runs when, and which run is what comes next.  Threads make chunks
 * ahead (doc/adr/0054), of all tasks in the order in which sums are made of them; a run counts only
 * if it begins exactly where the source is.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "utils/base/ahead.h"
#include "utils/format/uftrace/read_data.h"

#define CHUNK_BYTES   FTR_MIB(1)
#define CHUNKS_MIN    8u	/* fewer are not worth threads */
#define RECORDS_MIN   64u	/* a shorter run gains nothing */
#define PAUSE_MAX     63u	/* batches handed out as events before the next try */
#define PAUSE_THIN_MAX 16383u	/* ... where runs are made, but no gain */

/* Of one source. */
struct uft_runs {
	const struct uft_chunk *chunk;	/* (borrowed, nullable) own, or one made ahead */
	size_t pos;			/* of its runs: the next one, or the one that is offered */
	struct uft_chunk own;
	struct ftr_run offered;
	size_t offered_to;
	bool is_offered;
	unsigned pause, pause_next;
};

/* All chunks of all tasks, made ahead. */
struct piece {
	const struct uft_task *task;
	size_t from, to;
};

struct uft_ahead {
	struct ftr_ahead *ahead;
	const struct uft_reader *reader;	/* (borrowed) */
	atomic_bool is_thin;	/* the last run was: nothing is made ahead */
	FTR_VEC(struct piece) pieces;
	FTR_VEC(uint32_t) last_run;	/* by func->id: the last one that it is in */
	uint32_t run_nr;
	struct uft_chunk *chunks;	/* by place */
	size_t chunk_nr;
};

static void piece_make(void *arg, size_t place, size_t i)
{
	struct uft_ahead *self = arg;
	const struct piece *piece = &self->pieces.v[i];

	self->chunks[place].is_left = atomic_load_explicit(&self->is_thin, memory_order_relaxed);
	if (self->chunks[place].is_left)
		return;
	self->chunks[place].wish = self->reader->wish;
	uft_chunk_make(&self->chunks[place], piece->task, self->reader->is_big, piece->from,
		       piece->to);
}

void uft_ahead_free(struct uft_ahead *self)
{
	if (self == NULL)
		return;
	ftr_ahead_free(self->ahead);
	for (size_t i = 0; i < self->chunk_nr; i++)
		uft_chunk_fini(&self->chunks[i]);
	free(self->chunks);
	ftr_vec_fini(&self->pieces);
	ftr_vec_fini(&self->last_run);
	free(self);
}

static size_t chunk_bytes(const struct uft_reader *reader)
{
	return reader->trace->chunk_bytes != 0 ? reader->trace->chunk_bytes : CHUNK_BYTES;
}

static int pieces_add(struct uft_ahead *self, struct uft_task *task, size_t bytes)
{
	task->piece_at = self->pieces.nr;
	for (size_t from = 0; task->has_runs && from < task->in.size; from += bytes) {
		size_t left = task->in.size - from;
		struct piece piece = { task, from, from + (left < bytes ? left : bytes) };

		if (ftr_vec_push(&self->pieces, piece) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Without threads every source makes its own chunks. */
static int threads_start(struct uft_ahead *self, const struct ftr_trace *trace)
{
	unsigned thread_nr = trace->thread_nr != 0 ? trace->thread_nr : ftr_ahead_processors();

	if (thread_nr < 2 || (trace->chunk_bytes == 0 && self->pieces.nr < CHUNKS_MIN))
		return 0;
	self->chunk_nr = ftr_ahead_places(thread_nr);
	self->chunks = calloc(self->chunk_nr, sizeof(*self->chunks));
	if (self->chunks == NULL)
		return -ENOMEM;
	if (ftr_ahead_new(&self->ahead, thread_nr, self->pieces.nr, piece_make, self) < 0)
		self->ahead = NULL;	/* a limit of threads: go on alone */
	return 0;
}

static int ahead_start(struct uft_reader *reader)
{
	struct uft_ahead *self = calloc(1, sizeof(*self));

	reader->ahead = self;
	if (self == NULL)
		return -ENOMEM;
	self->reader = reader;
	for (size_t i = 0; i < reader->tasks.nr; i++) {
		if (pieces_add(self, reader->tasks.v[i], chunk_bytes(reader)) < 0)
			return -ENOMEM;
	}
	return threads_start(self, reader->trace);
}

/* The chunk that holds what comes at @pos, from there on or from before. */
static void chunk_get(struct uft_data *self, size_t pos)
{
	struct uft_ahead *ahead = self->reader->ahead;
	size_t bytes = chunk_bytes(self->reader), nr = pos / bytes;
	struct uft_runs *runs = self->runs;

	runs->chunk = NULL;
	if (ahead->ahead != NULL && pos == nr * bytes)
		runs->chunk = &ahead->chunks[ftr_ahead_take(ahead->ahead,
							    self->data->piece_at + nr)];
	if (runs->chunk == NULL || runs->chunk->is_left) {
		size_t to = (nr + 1) * bytes;

		runs->own.wish = self->reader->wish;
		uft_chunk_make(&runs->own, self->data, self->reader->is_big, pos,
			       to < self->in->size ? to : self->in->size);
		runs->chunk = &runs->own;
	}
	runs->pos = 0;
}

/* The run that begins at @pos, or NULL. */
static const struct uft_run *run_at(struct uft_runs *runs, size_t pos)
{
	if (runs->chunk == NULL)
		return NULL;
	while (runs->pos < runs->chunk->runs.nr && runs->chunk->runs.v[runs->pos].from < pos)
		runs->pos++;
	if (runs->pos == runs->chunk->runs.nr || runs->chunk->runs.v[runs->pos].from != pos)
		return NULL;
	return &runs->chunk->runs.v[runs->pos];
}

/* Is what comes at @pos between two runs of the chunk? */
static bool is_between(const struct uft_runs *runs, size_t pos)
{
	return runs->chunk != NULL && pos >= runs->chunk->from &&
	       runs->pos < runs->chunk->runs.nr && runs->chunk->runs.v[runs->pos].from > pos;
}

bool uft_runs_begin_at(const struct uft_data *self, const uint8_t *p)
{
	return self->runs != NULL &&
	       run_at(self->runs, (size_t)(p - self->in->data)) != NULL;
}

bool uft_runs_prevail(const struct uft_data *self)
{
	return self->runs != NULL && self->runs->pause == 0;
}

/* So many batches come as events now. */
static void pause_begin(struct uft_runs *runs, unsigned max)
{
	runs->pause_next = 2 * runs->pause_next + 1 < max ? 2 * runs->pause_next + 1 : max;
	runs->pause = runs->pause_next;
}

/* What could be a run is not worth it: for long, and nobody makes more of that. */
static void thin_settle(struct uft_data *self)
{
	struct uft_runs *runs = self->runs;

	atomic_store_explicit(&self->reader->ahead->is_thin, true, memory_order_relaxed);
	if (runs->pause_next < PAUSE_MAX / 2)
		runs->pause_next = PAUSE_MAX / 2;
	pause_begin(runs, PAUSE_THIN_MAX);
}

/* The source goes on behind a run that was taken. */
static void offered_settle(struct uft_data *self)
{
	struct uft_runs *runs = self->runs;

	if (!runs->is_offered)
		return;
	runs->is_offered = false;
	if (!runs->offered.is_taken) {
		pause_begin(runs, PAUSE_MAX);
		return;
	}
	if (runs->offered.event_nr >= RECORDS_MIN) {
		runs->pause_next = 0;
		atomic_store_explicit(&self->reader->ahead->is_thin, false, memory_order_relaxed);
	}
	self->reader->trace->bytes_read += runs->offered_to - (size_t)(self->p - self->in->data);
	self->p = self->in->data + runs->offered_to;
	self->last_ns = runs->offered.last_ns;
	uft_window_leave(self);
}

/* Would the general path take the run's records as they are, each as a plain call? */
static bool run_is_next(const struct uft_data *self, const struct uft_run *run)
{
	size_t record_nr = (run->to - run->from) / UFT_RECORD_BYTES;

	if (run->limit_ns != self->special_ns || run->first_ns >= run->limit_ns ||
	    run->first_ns < self->last_ns)
		return false;
	/* A time that steps far ahead holds if the next one does not step back. */
	return run->first_ns - self->last_ns <= UFT_JUMP_NS || record_nr > 1;
}

/*
 * Functions, in the order in which the general path would find them: that of the sums.  By callers
 * an end has a sum without function in its place.
 */
static int run_resolve(struct uft_data *self, struct ftr_run *run)
{
	struct ftr_run_end *end = run->ends;

	for (size_t i = 0; i < run->sum_nr; i++) {
		struct ftr_run_sum *sum = &run->sums[i];
		bool is_base = sum->addr == FTR_RUN_BASE;
		const struct ftr_func *func = NULL;

		if (is_base && i > 0)
			func = end->func = uft_data_func(self, end->time_ns, end->addr);
		else if (!is_base)
			func = uft_data_func(self, sum->first_ns, sum->addr);
		if (func == NULL && i > 0)
			return -ENOMEM;
		sum->func = is_base ? NULL : func;
		end += is_base && i > 0;
	}
	if (self->reader->wish.kind != FTR_RUN_BY_FUNC)
		return 0;
	for (size_t i = 0; i < run->end_nr; i++)
		run->ends[i].func = run->sums[run->ends[i].sum].func;
	return 0;
}

/* Has no function two addresses?  Sums are by these.  1, 0 or -ENOMEM. */
static int run_is_by_func(struct uft_data *self, const struct ftr_run *run)
{
	struct uft_ahead *ahead = self->reader->ahead;
	size_t func_nr = self->reader->trace->funcs.nr;

	if (ftr_vec_extend(&ahead->last_run, func_nr) < 0)
		return -ENOMEM;
	ahead->run_nr++;
	for (size_t i = 1; i < run->sum_nr; i++) {
		uint32_t *last_run = &ahead->last_run.v[run->sums[i].func->id];

		if (*last_run == ahead->run_nr)
			return 0;
		*last_run = ahead->run_nr;
	}
	return 1;
}

static void run_offer(struct uft_data *self, const struct uft_run *run)
{
	struct uft_runs *runs = self->runs;
	const struct uft_chunk *chunk = runs->chunk;

	runs->offered = (struct ftr_run){
		.task = self->data->task,
		.sums = chunk->sums.v + run->sum_at,
		.sum_nr = run->sum_nr,
		.ends = run->end_nr == 0 ? NULL : chunk->ends.v + run->end_at,
		.end_nr = run->end_nr,
		.opens = run->open_nr == 0 ? NULL : chunk->opens.v + run->open_at,
		.open_nr = run->open_nr,
		.first_ns = run->first_ns,
		.last_ns = run->last_ns,
		.outside_ns = run->outside_ns,
		.event_nr = (run->to - run->from) / UFT_RECORD_BYTES,
		.base_depth = run->base_depth,
	};
	runs->offered_to = run->to;
	runs->is_offered = true;
}

/* 0 or -ENOMEM. */
static int runs_start(struct uft_data *self)
{
	if (!self->is_started && uft_data_start(self) < 0)
		return -ENOMEM;
	if (self->reader->ahead == NULL && ahead_start(self->reader) < 0)
		return -ENOMEM;
	if (self->runs == NULL)
		self->runs = calloc(1, sizeof(*self->runs));
	return self->runs == NULL ? -ENOMEM : 0;
}

/* 1, 0 = not now, or -ENOMEM. */
static int run_find(struct uft_data *self)
{
	struct uft_runs *runs = self->runs;
	const struct uft_run *run;
	size_t pos;

	offered_settle(self);
	pos = (size_t)(self->p - self->in->data);
	if (runs->pause > 0) {
		runs->pause--;
		return 0;
	}
	if ((size_t)(self->end - self->p) < UFT_RECORD_BYTES ||
	    self->inherit_pos < self->inherit_nr)
		return 0;
	run = run_at(runs, pos);
	if (run == NULL && is_between(runs, pos))
		return 0;
	if (run == NULL) {
		chunk_get(self, pos);
		if (runs->chunk->is_out_of_memory)
			return -ENOMEM;
		run = run_at(runs, pos);
		if (run == NULL && is_between(runs, pos))
			return 0;
	}
	if (run == NULL && runs->chunk->is_thin) {
		thin_settle(self);
		return 0;
	}
	if (run == NULL) {	/* nothing plain: as after one that was not taken */
		runs->offered.is_taken = false;
		runs->is_offered = true;
		return 0;
	}
	if (!run_is_next(self, run))
		return 0;
	run_offer(self, run);
	if (run_resolve(self, &runs->offered) < 0)
		return -ENOMEM;
	return self->reader->wish.kind == FTR_RUN_BY_FUNC ?
		       run_is_by_func(self, &runs->offered) : 1;
}

void uft_data_wish(struct ftr_source *source, const struct ftr_run_wish *wish)
{
	((struct uft_data *)source)->reader->wish = *wish;	/* the same for all tasks */
}

int uft_data_run(struct ftr_source *source, struct ftr_run **run, struct ftr_err *err)
{
	struct uft_data *self = (struct uft_data *)source;
	int ret = runs_start(self);

	if (ret == 0)
		ret = run_find(self);
	if (ret < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->in->name);
	*run = &self->runs->offered;
	return ret;
}

void uft_runs_settle(struct uft_data *self)
{
	if (self->runs != NULL)
		offered_settle(self);
}

void uft_runs_free(struct uft_runs *runs)
{
	if (runs == NULL)
		return;
	uft_chunk_fini(&runs->own);
	free(runs);
}
