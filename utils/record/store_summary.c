/* SPDX-License-Identifier: MIT */
/* See store_summary.h. */
#include "utils/record/store_summary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define HEX 16

/* When libraries came into a session: last, and before that. */
struct loaded {
	uint64_t before_ns, since_ns;
};

static struct ftr_store_summary *summary_of(struct ftr_store *store)
{
	return (struct ftr_store_summary *)store;
}

static uint64_t sid_number(const char *sid)
{
	return strtoull(sid, NULL, HEX);
}

static void block_write(struct ftr_store_summary *self)
{
	struct ftr_store_dir *inner = self->inner;
	int ret = -ENOMEM;

	self->block.begin_ns = self->begin_ns;
	if (!ftr_summing_flush(&self->summing, &self->block))
		return;
	if (ftr_summary_block_end(&self->block, &self->text) == 0)
		ret = ftr_uftrace_write_all(self->fd, ftr_strbuf_str(&self->text), self->text.len);
	pthread_mutex_lock(&inner->lock);
	if (ret < 0)
		ftr_store_dir_failed(inner, FTR_SUMMARY_FILE, -ret);
	else
		inner->bytes += self->text.len;
	pthread_mutex_unlock(&inner->lock);
}

/* Intervals begin at multiples of their length: those of different recordings add up. */
static void interval_begin(struct ftr_store_summary *self, uint64_t time_ns)
{
	if (self->has_begun && time_ns < self->begin_ns + self->interval_ns)
		return;
	if (self->has_begun)
		block_write(self);
	self->has_begun = true;
	self->begin_ns = time_ns - time_ns % self->interval_ns;
}

static struct ftr_summing_from from_of(const struct ftr_store_summary *self,
				       const struct ftr_store_task *task)
{
	struct ftr_summing_from from = { .sid = sid_number(task->sid),
					 .is_forked = task->is_forked };
	const struct loaded *loaded = ftr_hashmap_find(&self->loads, from.sid);

	if (loaded != NULL) {
		from.before_ns = loaded->before_ns;
		from.since_ns = loaded->since_ns;
	}
	return from;
}

static void summary_append(struct ftr_store *base, struct ftr_store_task *task,
			   const struct ftr_record_batch *batch)
{
	struct ftr_store_summary *self = summary_of(base);
	struct ftr_store_dir *inner = self->inner;
	struct ftr_summing_from from;
	uint64_t not_counted;

	if (batch->is_aside || inner->is_closed)
		return;
	pthread_mutex_lock(&self->lock);
	task->last_ns = batch->last_ns;
	interval_begin(self, batch->last_ns);
	from = from_of(self, task);
	not_counted = self->summing.not_counted;
	ftr_summing_take(&self->summing, task->tid, &from, batch->bytes, batch->len);
	not_counted = self->summing.not_counted - not_counted;
	pthread_mutex_unlock(&self->lock);
	pthread_mutex_lock(&inner->lock);
	inner->calls += batch->call_nr;
	if (batch->last_ns > inner->last_ns)
		inner->last_ns = batch->last_ns;
	pthread_mutex_unlock(&inner->lock);
	if (not_counted != 0)
		inner->base.ops->lost(&inner->base, task, not_counted, FTR_LOST_DISK);
}

/* What perf events and names of events would explain is not kept. */
static void summary_events(struct ftr_store *base, bool has_stacks)
{
}

static bool summary_perf(struct ftr_store *base, unsigned cpu, const struct iovec *parts,
			 unsigned nr)
{
	return true;
}

static void summary_lost(struct ftr_store *base, struct ftr_store_task *task, uint64_t nr,
			 enum ftr_lost_cause cause)
{
	struct ftr_store *inner = &summary_of(base)->inner->base;

	inner->ops->lost(inner, task, nr, cause);
}

static void summary_untraced(struct ftr_store *base, const struct ftr_ring_untraced *more)
{
	struct ftr_store *inner = &summary_of(base)->inner->base;

	inner->ops->untraced(inner, more);
}

static void summary_rest(struct ftr_store *base, struct ftr_store_task *task)
{
	struct ftr_store_summary *self = summary_of(base);

	pthread_mutex_lock(&self->lock);
	ftr_summing_end_task(&self->summing, task->tid);
	pthread_mutex_unlock(&self->lock);
}

static const struct ftr_store_ops summary_ops = {
	.append	  = summary_append,
	.perf	  = summary_perf,
	.events	  = summary_events,
	.lost	  = summary_lost,
	.untraced = summary_untraced,
	.rest	  = summary_rest,
};

int ftr_store_summary_open(struct ftr_store_summary *self, struct ftr_store_dir *inner,
			   unsigned seconds, struct ftr_err *err)
{
	uint8_t head[FTR_SUMMARY_HEAD_BYTES];
	int ret;

	memset(self, 0, sizeof(*self));
	self->base.ops = &summary_ops;
	self->inner = inner;
	inner->has_sums = true;
	self->interval_ns = seconds * NSEC_PER_SEC;
	pthread_mutex_init(&self->lock, NULL);
	ftr_summing_init(&self->summing);
	ftr_strbuf_init(&self->block.rows);
	ftr_strbuf_init(&self->text);
	ftr_hashmap_init(&self->loads);
	self->fd = ftr_uftrace_file_create(inner->dir, FTR_SUMMARY_FILE);
	ftr_summary_head(head, seconds);
	ret = self->fd < 0 ? self->fd :
			     ftr_uftrace_write_all(self->fd, (const char *)head, sizeof(head));
	return ret < 0 ? ftr_err_set(err, -ret, "%s: %s", FTR_SUMMARY_FILE, strerror(-ret)) : 0;
}

void ftr_store_summary_loaded(struct ftr_store_summary *self, const char *sid, uint64_t time_ns)
{
	uint64_t key = sid_number(sid);
	struct loaded *loaded;

	pthread_mutex_lock(&self->lock);
	loaded = ftr_hashmap_find(&self->loads, key);
	if (loaded == NULL) {
		loaded = calloc(1, sizeof(*loaded));
		if (loaded != NULL && ftr_hashmap_set(&self->loads, key, loaded) < 0) {
			free(loaded);
			loaded = NULL;
		}
	}
	if (loaded != NULL)
		*loaded = (struct loaded){ loaded->since_ns, time_ns };
	pthread_mutex_unlock(&self->lock);
}

void ftr_store_summary_tick(struct ftr_store_summary *self, uint64_t now_ns)
{
	pthread_mutex_lock(&self->lock);
	if (self->has_begun)
		interval_begin(self, now_ns);
	pthread_mutex_unlock(&self->lock);
}

void ftr_store_summary_end(struct ftr_store_summary *self)
{
	pthread_mutex_lock(&self->lock);
	ftr_summing_end_tasks(&self->summing);
	if (self->has_begun)
		block_write(self);
	self->has_begun = false;
	pthread_mutex_unlock(&self->lock);
}

void ftr_store_summary_close(struct ftr_store_summary *self)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	if (self->base.ops == NULL)	/* was never opened */
		return;
	while ((slot = ftr_hashmap_next(&self->loads, &pos)) != NULL)
		free(slot->value);
	ftr_hashmap_fini(&self->loads);
	ftr_summing_fini(&self->summing);
	ftr_summary_block_fini(&self->block);
	ftr_strbuf_fini(&self->text);
	if (self->fd >= 0)
		close(self->fd);
}
