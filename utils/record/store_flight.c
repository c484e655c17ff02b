/* SPDX-License-Identifier: MIT */
/* See store_flight.h. */
#include "utils/record/store_flight.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIPE_BYTES 65536u

/* Whole records of a task, or perf records or pages of the kernel's tracing of a processor. */
struct ftr_flight_chunk {
	struct ftr_flight_chunk *next;	/* a newer one */
	struct ftr_store_task *task;	/* NULL: of a processor */
	unsigned cpu;
	bool is_kernel;			/* pages */
	char name[FTR_STORE_NAME_MAX];	/* "": neither task, kernel nor perf, but of this file */
	bool is_aside;			/* records: of TID.event */
	size_t len, record_nr, call_nr;
	uint64_t last_ns;		/* of a processor: when they came */
	_Alignas(8) uint8_t bytes[];
};

static struct ftr_store_flight *flight_of(struct ftr_store *store)
{
	return (struct ftr_store_flight *)store;
}

static void chunk_unlink(struct ftr_store_flight *flight)
{
	struct ftr_flight_chunk *chunk = flight->oldest;

	flight->oldest = chunk->next;
	if (flight->oldest == NULL)
		flight->newest = NULL;
	flight->bytes -= sizeof(*chunk) + chunk->len;
}

/* Out of memory, that there is a gap goes unsaid. */
static void dropped_add(struct ftr_store_flight *flight, const struct ftr_store_task *task,
			size_t record_nr)
{
	uint64_t tid = (uint32_t)task->tid;
	uintptr_t nr = (uintptr_t)ftr_hashmap_find(&flight->dropped, tid);

	(void)ftr_hashmap_set(&flight->dropped, tid, (void *)(nr + record_nr));
}

static void chunk_drop(struct ftr_store_flight *flight)
{
	struct ftr_flight_chunk *chunk = flight->oldest;

	chunk_unlink(flight);
	if (chunk->task != NULL)
		dropped_add(flight, chunk->task, chunk->record_nr);
	free(chunk);
}

static bool is_old(const struct ftr_store_flight *flight, const struct ftr_flight_chunk *chunk)
{
	return flight->limits.ns != 0 && chunk->last_ns < flight->newest_ns &&
	       flight->newest_ns - chunk->last_ns > flight->limits.ns;
}

static void chunks_drop(struct ftr_store_flight *flight)
{
	while (flight->oldest != NULL &&
	       (flight->bytes > flight->limits.bytes || is_old(flight, flight->oldest)))
		chunk_drop(flight);
}

static void chunk_add(struct ftr_store_flight *flight, struct ftr_flight_chunk *chunk)
{
	if (flight->newest != NULL)
		flight->newest->next = chunk;
	else
		flight->oldest = chunk;
	flight->newest = chunk;
	flight->bytes += sizeof(*chunk) + chunk->len;
	chunks_drop(flight);
}

static void flight_append(struct ftr_store *base, struct ftr_store_task *task,
			  const struct ftr_record_batch *batch)
{
	struct ftr_store_flight *flight = flight_of(base);
	struct ftr_flight_chunk *chunk = malloc(sizeof(*chunk) + batch->len);

	pthread_mutex_lock(&flight->lock);
	task->last_ns = batch->last_ns;
	if (batch->last_ns > flight->newest_ns)
		flight->newest_ns = batch->last_ns;
	if (chunk == NULL) {
		dropped_add(flight, task, batch->record_nr);
	} else {
		*chunk = (struct ftr_flight_chunk){
			.task = task, .len = batch->len, .record_nr = batch->record_nr,
			.call_nr = batch->call_nr, .last_ns = batch->last_ns,
			.is_aside = batch->is_aside,
		};
		memcpy(chunk->bytes, batch->bytes, batch->len);
		chunk_add(flight, chunk);
	}
	pthread_mutex_unlock(&flight->lock);
}

static void cpu_chunk_add(struct ftr_store_flight *flight, struct ftr_flight_chunk *chunk)
{
	pthread_mutex_lock(&flight->lock);
	chunk->last_ns = flight->newest_ns;
	chunk_add(flight, chunk);
	pthread_mutex_unlock(&flight->lock);
}

/* Hold the bytes back in a chunk that begins as @head. */
static bool parts_hold(struct ftr_store_flight *flight, const struct ftr_flight_chunk *head,
		       const struct iovec *parts, unsigned nr)
{
	struct ftr_flight_chunk *chunk;
	size_t len = 0;
	unsigned i;

	for (i = 0; i < nr; i++)
		len += parts[i].iov_len;
	chunk = malloc(sizeof(*chunk) + len);
	if (chunk == NULL)
		return false;
	memcpy(chunk, head, sizeof(*chunk));
	for (i = 0; i < nr; i++) {
		memcpy(chunk->bytes + chunk->len, parts[i].iov_base, parts[i].iov_len);
		chunk->len += parts[i].iov_len;
	}
	cpu_chunk_add(flight, chunk);
	return true;
}

static bool flight_perf(struct ftr_store *base, unsigned cpu, const struct iovec *parts,
			unsigned nr)
{
	struct ftr_store_flight *flight = flight_of(base);

	if (nr == 0)
		return flight->inner->ops->perf(flight->inner, cpu, parts, nr);
	return parts_hold(flight, &(struct ftr_flight_chunk){ .cpu = cpu }, parts, nr);
}

static bool flight_extra(struct ftr_store *base, const char *name, const struct iovec *parts,
			 unsigned nr)
{
	struct ftr_flight_chunk head = { .cpu = 0 };

	snprintf(head.name, sizeof(head.name), "%s", name);
	return parts_hold(flight_of(base), &head, parts, nr);
}

static bool flight_kernel(struct ftr_store *base, unsigned cpu, int pipe_fd, size_t bytes)
{
	struct ftr_flight_chunk *chunk = malloc(sizeof(*chunk) + bytes);
	ssize_t len = 1;

	if (chunk == NULL)
		return false;
	*chunk = (struct ftr_flight_chunk){ .cpu = cpu, .is_kernel = true };
	while (chunk->len < bytes &&
	       (len = read(pipe_fd, chunk->bytes + chunk->len, bytes - chunk->len)) > 0)
		chunk->len += (size_t)len;
	if (chunk->len == bytes)
		cpu_chunk_add(flight_of(base), chunk);
	else
		free(chunk);
	return len > 0;
}

static int flight_kernel_file(struct ftr_store *base, const char *name,
			      const struct ftr_strbuf *text)
{
	struct ftr_store *inner = flight_of(base)->inner;

	return inner->ops->kernel_file(inner, name, text);
}

static void flight_events(struct ftr_store *base, bool has_stacks)
{
	struct ftr_store *inner = flight_of(base)->inner;

	inner->ops->events(inner, has_stacks);
}

static void flight_lost(struct ftr_store *base, struct ftr_store_task *task, uint64_t nr,
			enum ftr_lost_cause cause)
{
	struct ftr_store *inner = flight_of(base)->inner;

	inner->ops->lost(inner, task, nr, cause);
}

static void flight_untraced(struct ftr_store *base, const struct ftr_ring_untraced *more)
{
	struct ftr_store *inner = flight_of(base)->inner;

	inner->ops->untraced(inner, more);
}

/* What it holds of the task may still be passed on: see records_pass. */
static void flight_rest(struct ftr_store *base, struct ftr_store_task *task)
{
	struct ftr_store *inner = flight_of(base)->inner;

	inner->ops->rest(inner, task);
}

/* What was dropped before a chunk: a LOST, from which readers find the depth again. */
static void gap_pass(struct ftr_store_flight *flight, const struct ftr_flight_chunk *chunk)
{
	uint64_t tid = (uint32_t)chunk->task->tid;
	uintptr_t dropped = (uintptr_t)ftr_hashmap_take(&flight->dropped, tid);
	const struct ftr_record *first = (const struct ftr_record *)chunk->bytes;
	struct ftr_record lost;
	struct ftr_record_batch batch = {
		.bytes = &lost, .len = sizeof(lost), .record_nr = 1, .last_ns = first->time,
	};

	if (dropped == 0)
		return;
	if (dropped > FTR_RECORD_ADDR_MASK)
		dropped = FTR_RECORD_ADDR_MASK;
	lost = (struct ftr_record){ first->time,
				    ftr_record_word(FTR_RECORD_LOST, 0, dropped) };
	flight->inner->ops->append(flight->inner, chunk->task, &batch);
}

/* Its file is closed again: dumps are rare, and tasks may be many, and gone. */
static void records_pass(struct ftr_store_flight *flight, const struct ftr_flight_chunk *chunk)
{
	struct ftr_record_batch batch = {
		.bytes = chunk->bytes, .len = chunk->len, .record_nr = chunk->record_nr,
		.call_nr = chunk->call_nr, .last_ns = chunk->last_ns,
		.is_aside = chunk->is_aside,
	};

	gap_pass(flight, chunk);
	flight->inner->ops->append(flight->inner, chunk->task, &batch);
	flight->inner->ops->rest(flight->inner, chunk->task);
}

/* In parts that a pipe, of the size that it has by default, takes whole. */
static void pages_pass(struct ftr_store_flight *flight, const struct ftr_flight_chunk *chunk)
{
	struct ftr_store *inner = flight->inner;
	size_t at, step;
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	for (at = 0; at < chunk->len; at += step) {
		step = chunk->len - at < PIPE_BYTES ? chunk->len - at : PIPE_BYTES;
		if (write(pipe_fds[1], chunk->bytes + at, step) != (ssize_t)step ||
		    !inner->ops->kernel(inner, chunk->cpu, pipe_fds[0], step))
			break;
	}
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void chunk_pass(struct ftr_store_flight *flight, struct ftr_flight_chunk *chunk)
{
	struct iovec part = { chunk->bytes, chunk->len };

	if (chunk->task != NULL)
		records_pass(flight, chunk);
	else if (chunk->is_kernel)
		pages_pass(flight, chunk);
	else if (chunk->name[0] != '\0')
		(void)flight->inner->ops->extra(flight->inner, chunk->name, &part, 1);
	else
		(void)flight->inner->ops->perf(flight->inner, chunk->cpu, &part, 1);
}

static void flight_dump(struct ftr_store *base)
{
	struct ftr_store_flight *flight = flight_of(base);
	struct ftr_flight_chunk *chunk;

	pthread_mutex_lock(&flight->lock);
	flight->dump_nr++;
	while ((chunk = flight->oldest) != NULL) {
		chunk_pass(flight, chunk);
		chunk_unlink(flight);
		free(chunk);
	}
	pthread_mutex_unlock(&flight->lock);
}

static const struct ftr_store_ops flight_ops = {
	.append = flight_append,
	.perf	= flight_perf,
	.extra	= flight_extra,
	.kernel = flight_kernel,
	.kernel_file = flight_kernel_file,
	.events = flight_events,
	.lost	= flight_lost,
	.untraced = flight_untraced,
	.rest	= flight_rest,
	.dump	= flight_dump,
};

void ftr_store_flight_init(struct ftr_store_flight *flight, struct ftr_store *inner,
			   const struct ftr_flight_limits *limits)
{
	assert(limits->bytes != 0);
	*flight = (struct ftr_store_flight){
		.base.ops = &flight_ops, .inner = inner, .limits = *limits,
	};
	pthread_mutex_init(&flight->lock, NULL);
	ftr_hashmap_init(&flight->dropped);
}

void ftr_store_flight_fini(struct ftr_store_flight *flight)
{
	struct ftr_flight_chunk *chunk;

	while ((chunk = flight->oldest) != NULL) {
		chunk_unlink(flight);
		free(chunk);
	}
	ftr_hashmap_fini(&flight->dropped);
}
