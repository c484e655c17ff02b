/* SPDX-License-Identifier: MIT */
/* The collector of the runtime's rings: one a task, drained in turn through one buffer. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "utils/base/vec.h"
#include "utils/proto/channel.h"
#include "utils/proto/ring.h"
#include "utils/record/backtraces.h"
#include "utils/record/collector.h"
#include "utils/record/nursery.h"
#include "utils/record/ring.h"
#include "utils/record/ring_memory.h"

/* It and the pages it is written to stay in the second-level cache; larger writes cost more. */
#define CHUNK_BYTES 131072u
#define SHARE_PERCENT 5		/* of a ring: from here on several threads drain */

struct source {
	struct ftr_ring ring;
	struct ftr_convert convert;
	struct ftr_store_task *task;
	uint64_t id;
	int32_t pid;
	uint64_t lost_reported;	/* of what the producers dropped, in LOST records or by us */
	uint64_t skipped_reported;	/* likewise, of calls that were declined */
	struct ftr_ring_untraced untraced_reported;
	bool is_at_dump;	/* it has been drained as far as that, and no further */
	bool may_have_more;	/* records than were moved at once */
	bool is_damaged;	/* its ring held what is no record, and no warning was given yet */
	unsigned percent;	/* how full it was */
	bool is_ended;		/* unmapped; only its sharing is still of interest */
};

struct ring_collector {
	const struct ftr_recording *recording;
	FTR_VEC(struct source *) sources;	/* (owned) */
	uint8_t *chunk;				/* (owned) twice CHUNK_BYTES for each thread */
	unsigned last_percent;			/* of the fullest at the last round */
	uint64_t last_id;
	unsigned dump_rounds;			/* since a dump was asked for */
};

static void *ring_open(const struct ftr_recording *recording, const void *values,
		       struct ftr_err *err)
{
	struct ring_collector *self = calloc(1, sizeof(*self));

	if (self != NULL)
		self->chunk = malloc((size_t)recording->thread_nr * 2 * CHUNK_BYTES);
	if (self == NULL || self->chunk == NULL) {
		free(self);
		ftr_err_set(err, ENOMEM, "ring collector: out of memory");
		return NULL;
	}
	self->recording = recording;
	return self;
}

/* What conversion found besides records goes to the store's counts. */
static void lost_report(struct ring_collector *self, struct source *source,
			const struct ftr_convert *before)
{
	struct ftr_store *store = self->recording->store;
	uint64_t lost = source->convert.lost - before->lost;
	uint64_t bad = source->convert.bad - before->bad;

	source->lost_reported += lost;
	if (lost != 0)
		store->ops->lost(store, source->task, lost, FTR_LOST_NO_ROOM);
	if (bad == 0)
		return;
	store->ops->lost(store, source->task, bad, FTR_LOST_DAMAGED);
	source->is_damaged |= before->bad == 0;
}

static void batch_append(struct ring_collector *self, struct source *source,
			 struct ftr_record_batch batch)
{
	struct ftr_store *store = self->recording->store;

	batch.last_ns = source->convert.last_ns;
	if (batch.record_nr != 0)
		store->ops->append(store, source->task, &batch);
}

/* What goes beside the other records; returns the bytes moved. */
static size_t aside_append(struct ring_collector *self, struct source *source)
{
	struct ftr_convert *convert = &source->convert;
	struct ftr_store *store = self->recording->store;
	struct ftr_record_batch batch;
	size_t moved = convert->aside_len;

	if (convert->stack_parts != 0)
		ftr_backtraces_take(self->recording->backtraces, source->task, convert->aside,
				    &convert->aside_len, &convert->aside_records);
	batch = (struct ftr_record_batch){
		.bytes = convert->aside, .len = convert->aside_len,
		.record_nr = convert->aside_records, .last_ns = convert->last_ns, .is_aside = true,
	};
	if (batch.record_nr != 0)
		store->ops->append(store, source->task, &batch);
	convert->aside_len = 0;
	convert->aside_records = 0;
	convert->stack_parts = 0;
	return moved;
}

/*
 * As much of the ring as there is room for in @chunk.  @is_gap: the records before are gone, and
 * how many is not known; a LOST with the time of the first one that is left says so.  Returns the
 * bytes moved.
 */
static size_t source_move(struct ring_collector *self, struct source *source, uint8_t *chunk,
			  bool is_gap)
{
	struct ftr_record *first = (struct ftr_record *)chunk + is_gap;
	struct ftr_store *store = self->recording->store;
	struct ftr_convert before = source->convert;
	size_t gap_bytes = (size_t)((uint8_t *)first - chunk), len;

	source->convert.aside = chunk + CHUNK_BYTES;
	source->convert.aside_room = CHUNK_BYTES;
	len = ftr_ring_take(&source->ring, &source->convert, self->recording->ticks, first,
			    CHUNK_BYTES - gap_bytes);
	if (is_gap)
		first[-1] = (struct ftr_record){
			len != 0 ? first->time : source->convert.last_ns,
			ftr_record_word(FTR_RECORD_LOST, 0, 0),
		};
	if (source->convert.events != before.events)
		store->ops->events(store, source->convert.stacks != before.stacks);
	batch_append(self, source, (struct ftr_record_batch){
		.bytes = chunk, .len = gap_bytes + len,
		.record_nr = source->convert.records - before.records + is_gap,
		.call_nr = source->convert.calls - before.calls });
	lost_report(self, source, &before);
	source->may_have_more =
		len > CHUNK_BYTES - FTR_RECORD_FILE_BYTES_MAX ||
		source->convert.aside_len > CHUNK_BYTES - FTR_RECORD_FILE_BYTES_MAX;
	return len + aside_append(self, source);
}

/* At most one ring's size at a time, so that no task keeps the others waiting.  Returns bytes. */
static uint64_t source_drain(struct ring_collector *self, struct source *source, unsigned thread)
{
	uint64_t bytes = 0;

	do {
		bytes += source_move(self, source,
				     self->chunk + (size_t)thread * 2 * CHUNK_BYTES, false);
		source->is_at_dump = ftr_ring_dump_is_reached(&source->ring);
	} while (!source->is_at_dump && source->may_have_more &&
		 bytes < source->ring.size_bytes);
	return bytes;
}

static void put_lost(struct ring_collector *self, struct source *source, uint64_t lost,
		     enum ftr_lost_cause cause)
{
	struct ftr_store *store = self->recording->store;
	struct ftr_record record;

	if (lost == 0 || lost > FTR_RECORD_ADDR_MASK)
		return;
	record = (struct ftr_record){ source->convert.last_ns,
				      ftr_record_word(FTR_RECORD_LOST, 0, lost) };
	batch_append(self, source, (struct ftr_record_batch){
		.bytes = &record, .len = sizeof(record), .record_nr = 1 });
	store->ops->lost(store, source->task, lost, cause);
}

/* What it dropped last it could not report any more: there was no next record. */
static void put_lost_at_end(struct ring_collector *self, struct source *source)
{
	uint64_t lost = ftr_ring_lost(&source->ring) - source->lost_reported;
	uint64_t skipped = ftr_ring_skipped(&source->ring) - source->skipped_reported;

	put_lost(self, source, lost, FTR_LOST_NO_ROOM);
	put_lost(self, source, skipped * 2, FTR_LOST_DEPTH);	/* ENTRY and EXIT */
	source->lost_reported += lost;
	source->skipped_reported += skipped;
}

static void put_untraced_at_end(struct ring_collector *self, struct source *source)
{
	struct ftr_ring_untraced now = ftr_ring_untraced(&source->ring), more = now;

	more.tasks -= source->untraced_reported.tasks;
	more.calls -= source->untraced_reported.calls;
	source->untraced_reported = now;
	if (more.tasks != 0 || more.calls != 0)
		self->recording->store->ops->untraced(self->recording->store, &more);
}

static void damage_report(struct ring_collector *self, struct source *source)
{
	if (source->is_damaged)
		ftr_diag_warn(self->recording->diag,
			      "task %d: skipped corrupt records in its ring; the program may "
			      "have overwritten it (stray write)", source->task->tid);
	source->is_damaged = false;
}

static void dump(struct ring_collector *self)
{
	struct ftr_store *store = self->recording->store;
	size_t i;

	for (i = 0; i < self->sources.nr; i++)
		self->sources.v[i]->is_at_dump = false;
	if (store->ops->dump != NULL)
		store->ops->dump(store);
}

static void source_empty(struct ring_collector *self, struct source *source)
{
	source_drain(self, source, 0);
	ftr_ring_end(&source->ring);
	source_drain(self, source, 0);
}

/* The producer is dead: take all that it had committed. */
static void source_finish(struct ring_collector *self, struct source *source)
{
	if (self->recording->control->on_full == FTR_ON_FULL_OVERWRITE) {
		if (ftr_ring_end_overwritten(&source->ring))
			source_move(self, source, self->chunk, true);
	} else {
		source_empty(self, source);
	}
	source_drain(self, source, 0);
	put_lost_at_end(self, source);
	put_untraced_at_end(self, source);
	damage_report(self, source);
	if (ftr_ring_dump_is_reached(&source->ring))
		dump(self);
	source->convert.depth = FTR_CONVERT_DEPTH_UNKNOWN;
}

static void source_free(struct source *source)
{
	ftr_ring_close(&source->ring);
	free(source);
}

static struct source *source_find(struct ring_collector *self, uint64_t id)
{
	size_t i;

	for (i = 0; i < self->sources.nr; i++) {
		if (self->sources.v[i]->id == id)
			return self->sources.v[i];
	}
	return NULL;
}

static void source_assign(struct source *source, const struct ftr_task_start *start)
{
	source->task = start->task;
	source->convert = (struct ftr_convert){
		.last_ns = start->task->last_ns,
		.depth = FTR_CONVERT_DEPTH_UNKNOWN,
	};
}

/* A ring outlives its task: the next one of the process goes on in it. */
static int source_renew(struct ring_collector *self, const struct ftr_task_start *start,
			struct ftr_err *err)
{
	struct source *source = source_find(self, start->ring_id);

	if (source == NULL || source->pid != start->pid || source->is_ended)
		return ftr_err_set(err, ENOENT, "no such ring");
	source_finish(self, source);
	if (source->task != start->task)
		self->recording->store->ops->rest(self->recording->store, source->task);
	source_assign(source, start);
	ftr_ring_renew(&source->ring);
	return 0;
}

/* How large a ring of process @pid may be; it is mapped twice there. */
static uint32_t ring_bytes_for(const struct ring_collector *self, int32_t pid)
{
	uint32_t bytes = self->recording->control->ring_bytes;
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_AS, NULL, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return bytes;
	while (bytes > FTR_RING_MIN_BYTES && 2 * bytes > limit.rlim_cur / FTR_CHANNEL_AS_SHARE)
		bytes /= 2;
	return bytes;
}

/* Our own limit of files (ulimit -f) holds for memory files, too. */
static int ring_open_limited(struct ring_collector *self, struct source *source, int32_t pid,
			     struct ftr_err *err)
{
	uint32_t bytes = ring_bytes_for(self, pid);
	int ret;

	while ((ret = ftr_ring_open(&source->ring, bytes, err)) == -EFBIG &&
	       bytes > FTR_RING_MIN_BYTES)
		bytes /= 2;
	return ret;
}

/* What it had committed to the old one comes first; it waits for the reply meanwhile. */
static int source_grow(struct ring_collector *self, const struct ftr_task_start *start,
		       struct ftr_task_answer *answer, struct ftr_err *err)
{
	struct source *source = source_find(self, start->ring_id);
	struct source larger = { 0 };
	int ret;

	if (source == NULL || source->pid != start->pid || source->is_ended)
		return ftr_err_set(err, ENOENT, "no such ring");
	ret = ring_open_limited(self, &larger, start->pid, err);
	if (ret < 0)
		return 0;		/* it stays where it is */
	source_empty(self, source);
	put_untraced_at_end(self, source);
	ftr_ring_continue(&larger.ring, &source->ring);
	ftr_ring_close(&source->ring);
	source->ring = larger.ring;
	source->untraced_reported = larger.untraced_reported;
	source->id = answer->ring_id = ++self->last_id;
	answer->ring_fd = source->ring.fd;
	return 0;
}

/* The ring that came with the task, or a new one. */
static int source_open(struct ring_collector *self, const struct ftr_task_start *start,
		       struct source *source, struct ftr_err *err)
{
	if (start->ring == NULL) {
		source->id = self->last_id + 1;
		return ring_open_limited(self, source, start->pid, err);
	}
	source->id = start->ring_id;
	source->ring = *start->ring;
	return 0;
}

static int ring_task(void *arg, const struct ftr_task_start *start, struct ftr_task_answer *answer,
		     struct ftr_err *err)
{
	struct ring_collector *self = arg;
	struct source *source;
	int ret;

	*answer = (struct ftr_task_answer){ .ring_id = start->ring_id, .ring_fd = -1 };
	if (start->is_growing)
		return source_grow(self, start, answer, err);
	if (start->ring_id != 0 && start->ring == NULL)
		return source_renew(self, start, err);
	source = calloc(1, sizeof(*source));
	if (source == NULL || ftr_vec_reserve(&self->sources, self->sources.nr + 1) < 0) {
		free(source);
		return ftr_err_set(err, ENOMEM, "ring: out of memory");
	}
	ret = source_open(self, start, source, err);
	if (ret < 0) {
		free(source);
		return ret;
	}
	self->last_id += start->ring == NULL;
	answer->ring_id = source->id;
	source->pid = start->pid;
	source_assign(source, start);
	(void)ftr_vec_push(&self->sources, source);
	answer->ring_fd = source->ring.fd;
	return 0;
}

/* A forked child that has not called anything yet still has its parent's rings mapped. */
static void ring_image_end(void *arg, int32_t pid)
{
	struct ring_collector *self = arg;
	size_t kept = 0, i;

	for (i = 0; i < self->sources.nr; i++) {
		struct source *source = self->sources.v[i];

		if (source->pid != pid || source->is_ended) {
			self->sources.v[kept++] = source;
			continue;
		}
		source_finish(self, source);
		self->recording->store->ops->rest(self->recording->store, source->task);
		if (ftr_ring_is_shared(&source->ring)) {
			source->is_ended = true;
			self->sources.v[kept++] = source;
		} else {
			source_free(source);
		}
	}
	self->sources.nr = kept;
}

static void source_drain_one(void *arg, unsigned thread, size_t i)
{
	struct ring_collector *self = arg;
	struct source *source = self->sources.v[i];

	source->percent = 0;
	if (source->is_at_dump)		/* the ENTRY of the call that asked may come just now */
		source_move(self, source, self->chunk + (size_t)thread * CHUNK_BYTES, false);
	else if (!source->is_ended)
		source->percent = (unsigned)(source_drain(self, source, thread) * 100 /
					     source->ring.size_bytes);
}

/*
 * A dump holds what all tasks had done when one of them asked for it: what is newer than the time
 * by which ticks are converted in this round is taken in the next one.
 */
static void dump_follow(struct ring_collector *self)
{
	bool is_asked = false;
	size_t i;

	for (i = 0; i < self->sources.nr; i++)
		is_asked |= self->sources.v[i]->is_at_dump;
	self->dump_rounds = is_asked ? self->dump_rounds + 1 : 0;
	if (self->dump_rounds < 2)
		return;
	self->dump_rounds = 0;
	dump(self);
}

/* Waking others up is worth it when there is more than a little to do. */
static unsigned ring_drain(void *arg)
{
	struct ring_collector *self = arg;
	size_t nr = self->sources.nr, i;

	if (self->recording->control->on_full == FTR_ON_FULL_OVERWRITE)
		return 0;
	if (self->recording->pool != NULL && nr > 1 && self->last_percent >= SHARE_PERCENT) {
		ftr_pool_run(self->recording->pool, source_drain_one, self, nr);
	} else {
		for (i = 0; i < nr; i++)
			source_drain_one(self, 0, i);
	}
	self->last_percent = 0;
	for (i = 0; i < nr; i++) {
		struct source *source = self->sources.v[i];

		damage_report(self, source);
		if (source->percent > self->last_percent)
			self->last_percent = source->percent;
	}
	dump_follow(self);
	return self->last_percent;
}

static bool ring_is_shared(void *arg)
{
	struct ring_collector *self = arg;
	size_t kept = 0, i;

	for (i = 0; i < self->sources.nr; i++) {
		struct source *source = self->sources.v[i];

		if (source->is_ended && !ftr_ring_is_shared(&source->ring))
			source_free(source);
		else
			self->sources.v[kept++] = source;
	}
	self->sources.nr = kept;
	return kept != 0;
}

static void ring_close(void *arg)
{
	struct ring_collector *self = arg;
	size_t i;

	for (i = 0; i < self->sources.nr; i++) {
		if (!self->sources.v[i]->is_ended)
			source_finish(self, self->sources.v[i]);
		source_free(self->sources.v[i]);
	}
	ftr_vec_fini(&self->sources);
	free(self->chunk);
	free(self);
}

const struct ftr_collector ftr_collector_ring = {
	.name	   = "ring",
	.open	   = ring_open,
	.close	   = ring_close,
	.task	   = ring_task,
	.image_end = ring_image_end,
	.drain	   = ring_drain,
	.is_shared = ring_is_shared,
};
