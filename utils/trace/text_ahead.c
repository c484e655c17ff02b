/* SPDX-License-Identifier: MIT */
/*
 * See text_ahead.h.  A piece is so many events, copied, and their text; it stays in its place
 * (utils/base/ahead.h), with a maker and room for both, until the next one needs that.
 */
#include "utils/trace/text_ahead.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/ahead.h"
#include "utils/base/ostream.h"
#include "utils/trace/event.h"
#include "utils/trace/source.h"
#include "utils/trace/trace.h"

#define PIECE_EVENTS 4096u	/* their text is longer than a stream's buffer: it is not copied */
#define BEGIN_EVENTS 65536u	/* fewer are not worth threads */
#define THREADS_MAX  4u		/* one thread reads, which takes a third of the time of one */
#define RECORD_BYTES 16u	/* that trace->chunk_bytes counts */

struct piece {
	struct ftr_event before;
	bool has_before;
	struct ftr_event *evs;		/* (owned) */
	size_t nr;
	struct ftr_ostream out;		/* in memory */
	void *maker;			/* (owned, nullable) */
	struct ftr_err err;
	int ret;
};

struct ftr_text_ahead {
	const struct ftr_text_ops *ops;
	const void *owner;
	struct ftr_ostream *out;
	unsigned thread_nr;
	size_t piece_events;
	size_t wait_events;		/* so many more before threads begin */
	bool is_off;			/* they could not */
	struct ftr_ahead *ahead;	/* (owned, nullable: not begun) */
	struct piece *pieces;		/* (owned) by place */
	size_t place_nr;
	size_t written;			/* pieces whose text is in the stream */
	size_t added;			/* pieces that threads may begin */
	struct piece *filling;		/* (nullable) the next one */
	struct ftr_event last;		/* that was taken */
	bool has_last;
};

static void piece_make(void *arg, size_t place, size_t i)
{
	struct ftr_text_ahead *self = arg;
	struct piece *piece = &self->pieces[place];

	piece->ret = self->ops->make(piece->maker, piece->has_before ? &piece->before : NULL,
				     piece->evs, piece->nr);
}

struct ftr_text_ahead *ftr_text_ahead_new(const struct ftr_trace *trace,
					  const struct ftr_text_ops *ops, const void *owner,
					  struct ftr_ostream *out)
{
	unsigned thread_nr = trace->thread_nr != 0 ? trace->thread_nr : ftr_ahead_processors();
	size_t records = trace->chunk_bytes / RECORD_BYTES;
	struct ftr_text_ahead *self;

	if (thread_nr < 2 || trace->is_growing)
		return NULL;
	self = calloc(1, sizeof(*self));
	if (self == NULL)
		return NULL;
	self->ops = ops;
	self->owner = owner;
	self->out = out;
	self->thread_nr = thread_nr < THREADS_MAX ? thread_nr : THREADS_MAX;
	self->piece_events = records != 0 ? records : PIECE_EVENTS;
	self->wait_events = records != 0 ? 0 : BEGIN_EVENTS;
	return self;
}

static int piece_init(const struct ftr_text_ahead *self, struct piece *piece)
{
	piece->evs = aligned_alloc(FTR_CACHE_LINE, self->piece_events * sizeof(*piece->evs));
	if (piece->evs == NULL || ftr_ostream_to_memory(&piece->out) < 0)
		return -ENOMEM;
	piece->maker = self->ops->maker_new(self->owner, &piece->out, &piece->err);
	return piece->maker == NULL ? -ENOMEM : 0;
}

static void pieces_free(struct ftr_text_ahead *self)
{
	for (size_t i = 0; i < self->place_nr; i++) {
		struct piece *piece = &self->pieces[i];

		if (piece->maker != NULL)
			self->ops->maker_free(piece->maker);
		if (piece->out.buf != NULL)
			ftr_ostream_close(&piece->out, &piece->err);
		free(piece->evs);
	}
	free(self->pieces);
	self->pieces = NULL;
	self->place_nr = 0;
}

static int threads_begin(struct ftr_text_ahead *self)
{
	size_t place_nr = ftr_ahead_places(self->thread_nr);
	int ret = 0;

	self->pieces = calloc(place_nr, sizeof(*self->pieces));
	if (self->pieces == NULL)
		return -ENOMEM;
	while (ret == 0 && self->place_nr < place_nr)
		ret = piece_init(self, &self->pieces[self->place_nr++]);
	if (ret == 0)
		ret = ftr_ahead_new(&self->ahead, self->thread_nr, 0, piece_make, self);
	if (ret < 0)
		pieces_free(self);
	return ret;
}

static bool is_begun(struct ftr_text_ahead *self, size_t nr)
{
	if (self->ahead != NULL || self->is_off)
		return !self->is_off;
	if (self->wait_events > nr) {
		self->wait_events -= nr;
		return false;
	}
	self->is_off = threads_begin(self) < 0;	/* a limit of threads or memory: go on alone */
	return !self->is_off;
}

static_assert(FTR_EVENT_ENTRY == 0 && FTR_EVENT_EXIT == 1, "calls have the lowest numbers");

/* Without a branch for each: nearly all are. */
static bool are_plain(const struct ftr_event *evs, size_t nr)
{
	uintptr_t payloads = 0;
	unsigned others = 0;

	for (size_t i = 0; i < nr; i++) {
		payloads |= (uintptr_t)evs[i].payload;
		others |= (evs[i].type & ~(unsigned)FTR_EVENT_EXIT) | evs[i].flags;
	}
	return payloads == 0 && others == 0;
}

/* The oldest piece that is not in the stream yet. */
static int piece_write(struct ftr_text_ahead *self, struct ftr_err *err)
{
	struct piece *piece = &self->pieces[ftr_ahead_take(self->ahead, self->written)];
	int ret = piece->ret;

	self->written++;
	if (ret < 0 && err != NULL)
		*err = piece->err;
	ftr_ostream_write(self->out, piece->out.buf, piece->out.len);
	piece->out.len = 0;
	return ret;
}

/* Where the next piece is put together. */
static int filling_begin(struct ftr_text_ahead *self, struct ftr_err *err)
{
	struct piece *piece = &self->pieces[self->added % self->place_nr];
	int ret = 0;

	if (self->added - self->written == self->place_nr)
		ret = piece_write(self, err);
	piece->nr = 0;
	piece->has_before = self->has_last;
	if (self->has_last)
		piece->before = self->last;
	self->filling = piece;
	return ret;
}

static void filling_add(struct ftr_text_ahead *self)
{
	struct piece *piece = self->filling;

	self->last = piece->evs[piece->nr - 1];
	self->has_last = true;
	self->filling = NULL;
	self->added++;
	ftr_ahead_add(self->ahead);
}

int ftr_text_ahead_drain(struct ftr_text_ahead *self, struct ftr_err *err)
{
	int ret = 0;

	if (self == NULL || self->ahead == NULL)
		return 0;
	if (self->filling != NULL)
		filling_add(self);
	while (ret == 0 && self->written < self->added)
		ret = piece_write(self, err);
	self->has_last = false;
	return ret;
}

int ftr_text_ahead_take(struct ftr_text_ahead *self, const struct ftr_event *before,
			const struct ftr_event *evs, size_t nr, struct ftr_err *err)
{
	int ret = 0;

	if (self == NULL || nr == 0)
		return 0;
	if (!are_plain(evs, nr))
		return ftr_text_ahead_drain(self, err);
	if (!is_begun(self, nr))
		return 0;
	if (self->filling == NULL && !self->has_last && before != NULL) {
		self->last = *before;
		self->has_last = true;
	}
	while (ret == 0 && nr > 0) {
		size_t room, part;

		if (self->filling == NULL)
			ret = filling_begin(self, err);
		room = self->piece_events - self->filling->nr;
		part = nr < room ? nr : room;
		memcpy(self->filling->evs + self->filling->nr, evs, part * sizeof(*evs));
		self->filling->nr += part;
		evs += part;
		nr -= part;
		if (part == room)
			filling_add(self);
	}
	return ret < 0 ? ret : 1;
}

void ftr_text_ahead_free(struct ftr_text_ahead *self)
{
	if (self == NULL)
		return;
	ftr_ahead_free(self->ahead);
	pieces_free(self);
	free(self);
}
