/* SPDX-License-Identifier: MIT */
/* Requests for memory added up by caller: what was given, and what was never given back. */
#include "utils/analysis/memory_sums.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/strpool.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"

/* A block that was given. */
struct block {
	uint64_t bytes;
	uint32_t row;
};

struct memory_sums {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	struct ftr_sums sums;
	struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_strpool names;	/* id = row */
	FTR_VEC(struct block) blocks;	/* those that are free again are in spare */
	FTR_VEC(uint32_t) spare;	/* indexes in blocks */
	struct ftr_hashmap live;	/* by process, image and address: index in blocks, + 1 */
	/*
	 * Of these, blocks whose address was given to another thread before the realloc that gave
	 * it back was recorded, which is after its return.
	 */
	struct ftr_hashmap moved;
};

/* What an event says. */
struct request {
	uint64_t address, bytes, caller, from;
};

static struct memory_sums *sums_of(struct ftr_sink *sink)
{
	return (struct memory_sums *)sink;
}

static struct request request_of(const struct ftr_event *ev)
{
	struct request request = { 0 };
	const struct { const char *name; uint64_t *value; } rows[] = {
		{ "address", &request.address }, { "bytes", &request.bytes },
		{ "caller", &request.caller }, { "from", &request.from },
	};
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	if (ev->payload == NULL || ev->payload->spec == NULL)
		return request;
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (value.arg->name != NULL && strcmp(value.arg->name, rows[i].name) == 0)
				*rows[i].value = value.u;
		}
	}
	return request;
}

/* The row of the function that @addr lies in, else of the address. */
static int row_of(struct memory_sums *self, const struct ftr_event *ev, uint64_t addr,
		  uint32_t *row)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_func *func = NULL;
	const char *name;
	char text[32];
	uint64_t offset;

	if (session != NULL)	/* the call is before the place that it returns to */
		func = ftr_trace_find(self->trace, session, ev->time_ns, addr - 1, &offset);
	snprintf(text, sizeof(text), "<%llx>", (unsigned long long)addr);
	name = func != NULL ? func->name : text;
	return ftr_sums_row(&self->sums, &self->names, ftr_slice_make(name, strlen(name)), row);
}

/* A forked child has its parent's addresses, and so has the next image of a process. */
static uint64_t key_of(const struct ftr_event *ev, uint64_t address)
{
	uintptr_t session = (uintptr_t)ftr_task_session_at(ev->task, ev->time_ns);

	return ftr_hash_u64(ftr_hash_u64((uint32_t)ev->task->pid) ^ session) ^ address;
}

/* The block that @map has for @key is given back; false: it has none. */
static bool block_free(struct memory_sums *self, struct ftr_hashmap *map, uint64_t key)
{
	uint32_t i = (uint32_t)(uintptr_t)ftr_hashmap_take(map, key);
	struct ftr_sum *sum;

	if (i == 0)
		return false;
	sum = &self->sums.rows.v[self->blocks.v[i - 1].row];
	sum->live_bytes -= self->blocks.v[i - 1].bytes;
	sum->live_blocks--;
	(void)ftr_vec_push(&self->spare, i - 1);	/* else it is not used again */
	return true;
}

static int block_new(struct memory_sums *self, struct block block, uint32_t *i)
{
	if (self->spare.nr > 0) {
		*i = self->spare.v[--self->spare.nr];
		self->blocks.v[*i] = block;
		return 0;
	}
	*i = (uint32_t)self->blocks.nr;
	return ftr_vec_push(&self->blocks, block);
}

static int block_add(struct memory_sums *self, uint64_t key, struct block block)
{
	void *before = ftr_hashmap_take(&self->live, key);
	struct ftr_sum *sum = &self->sums.rows.v[block.row];
	uint32_t i;

	if (before != NULL) {
		block_free(self, &self->moved, key);
		if (ftr_hashmap_set(&self->moved, key, before) < 0)
			return -ENOMEM;
	}
	if (block_new(self, block, &i) < 0)
		return -ENOMEM;
	sum->live_bytes += block.bytes;
	sum->live_blocks++;
	return ftr_hashmap_set(&self->live, key, (void *)(uintptr_t)(i + 1));
}

static int given(struct memory_sums *self, const struct ftr_event *ev,
		 const struct request *request)
{
	struct block block = { .bytes = request->bytes };
	struct ftr_sum *sum;

	if (row_of(self, ev, request->caller, &block.row) < 0)
		return -ENOMEM;
	sum = &self->sums.rows.v[block.row];
	if (sum->calls++ == 0)
		sum->start_ns = ev->time_ns;
	sum->end_ns = ev->time_ns;
	if (request->address == 0) {
		sum->errors++;
		return 0;
	}
	sum->bytes += request->bytes;
	return block_add(self, key_of(ev, request->address), block);
}

static void freed(struct memory_sums *self, const struct ftr_event *ev, uint64_t address)
{
	(void)block_free(self, &self->live, key_of(ev, address));
}

/* Where it fails the old block stays; of no bytes, there is none afterwards. */
static int replaced(struct memory_sums *self, const struct ftr_event *ev,
		    const struct request *request)
{
	uint64_t key = key_of(ev, request->from);

	if (request->from != 0 && (request->address != 0 || request->bytes == 0) &&
	    !block_free(self, &self->moved, key))
		block_free(self, &self->live, key);
	return request->address == 0 && request->bytes == 0 ? 0 : given(self, ev, request);
}

static int memory_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	sums_of(sink)->trace = (struct ftr_trace *)trace;	/* functions are found as needed */
	return 0;
}

static int memory_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct memory_sums *self = sums_of(sink);
	struct request request;
	int ret = 0;

	if (ev->type != FTR_EVENT_POINT)
		return 0;
	request = request_of(ev);
	switch (ftr_event_kind_id(ev)) {
	case FTR_EVENT_ID_MALLOC:
	case FTR_EVENT_ID_CALLOC:
	case FTR_EVENT_ID_MEMALIGN:
	case FTR_EVENT_ID_NEW:
		ret = given(self, ev, &request);
		break;
	case FTR_EVENT_ID_REALLOC:
		ret = replaced(self, ev, &request);
		break;
	case FTR_EVENT_ID_FREE:
	case FTR_EVENT_ID_DELETE:
		freed(self, ev, request.address);
		break;
	}
	return ret < 0 ? ftr_err_set(sink->err, ENOMEM, "out of memory") : 0;
}

static void memory_fini(struct ftr_sink *sink)
{
	struct memory_sums *self = sums_of(sink);

	ftr_vec_fini(&self->sums.rows);
	ftr_vec_fini(&self->blocks);
	ftr_vec_fini(&self->spare);
	ftr_hashmap_fini(&self->live);
	ftr_hashmap_fini(&self->moved);
	ftr_strpool_fini(&self->names);
}

static const struct ftr_sink_ops memory_ops = {
	.size	 = sizeof(struct memory_sums),
	.accepts = FTR_SUMS_ACCEPTS,
	.begin	 = memory_begin,
	.event	 = memory_event,
	.fini	 = memory_fini,
};

struct ftr_sink *ftr_memory_sums_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&memory_ops, NULL, err);
	struct memory_sums *self = sums_of(sink);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	ftr_strpool_init(&self->names);
	ftr_hashmap_init(&self->live);
	ftr_hashmap_init(&self->moved);
	return sink;
}

const struct ftr_sums *ftr_memory_sums_get(const struct ftr_sink *sink)
{
	return &((const struct memory_sums *)sink)->sums;
}
