/* SPDX-License-Identifier: MIT */
/* See memory_blocks.h. */
#include "utils/trace/memory_blocks.h"

#include <errno.h>
#include <string.h>

#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"

void ftr_memory_blocks_init(struct ftr_memory_blocks *blocks,
			    void (*gone)(void *arg, const struct ftr_memory_block *block),
			    void *arg)
{
	memset(blocks, 0, sizeof(*blocks));
	ftr_hashmap_init(&blocks->live);
	ftr_hashmap_init(&blocks->moved);
	blocks->gone = gone;
	blocks->arg = arg;
}

void ftr_memory_blocks_fini(struct ftr_memory_blocks *blocks)
{
	ftr_vec_fini(&blocks->blocks);
	ftr_vec_fini(&blocks->spare);
	ftr_hashmap_fini(&blocks->live);
	ftr_hashmap_fini(&blocks->moved);
}

/* ---- events ---- */

static void values_read(struct ftr_memory_request *request, const struct ftr_payload *payload)
{
	const struct { const char *name; uint64_t *value; } rows[] = {
		{ "address", &request->address }, { "bytes", &request->bytes },
		{ "caller", &request->caller }, { "from", &request->from },
	};
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	while (ftr_payload_next(payload, &nr, &pos, &value)) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (value.arg->name != NULL && strcmp(value.arg->name, rows[i].name) == 0)
				*rows[i].value = value.u;
		}
	}
}

/* Where it fails the old block stays; of no bytes, there is none afterwards. */
static void realloc_read(struct ftr_memory_request *request)
{
	request->is_late = true;
	request->asks = request->address != 0 || request->bytes != 0;
	if (request->address == 0 && request->bytes != 0)
		request->from = 0;
}

bool ftr_memory_request_read(struct ftr_memory_request *request, const struct ftr_event *ev)
{
	uint64_t id = ev->type == FTR_EVENT_POINT ? ftr_event_kind_id(ev) : 0;

	*request = (struct ftr_memory_request){ .address = 0 };
	if (id < FTR_EVENT_ID_MALLOC || id > FTR_EVENT_ID_DELETE)
		return false;
	if (ev->payload != NULL && ev->payload->spec != NULL)
		values_read(request, ev->payload);
	if (id == FTR_EVENT_ID_FREE || id == FTR_EVENT_ID_DELETE) {
		request->from = request->address;
		request->address = 0;
	} else if (id == FTR_EVENT_ID_REALLOC) {
		realloc_read(request);
	} else {
		request->asks = true;
	}
	return true;
}

/* ---- blocks ---- */

/* A forked child has its parent's addresses, and so has the next image of a process. */
static uint64_t key_of(const struct ftr_event *ev, uint64_t address)
{
	uintptr_t session = (uintptr_t)ftr_task_session_at(ev->task, ev->time_ns);

	return ftr_hash_u64(ftr_hash_u64((uint32_t)ev->task->pid) ^ session) ^ address;
}

/* The block that @map has for @key is given back; false: it has none. */
static bool block_free(struct ftr_memory_blocks *self, struct ftr_hashmap *map, uint64_t key)
{
	uint32_t i = (uint32_t)(uintptr_t)ftr_hashmap_take(map, key);

	if (i == 0)
		return false;
	self->gone(self->arg, &self->blocks.v[i - 1]);
	(void)ftr_vec_push(&self->spare, i - 1);	/* else it is not used again */
	return true;
}

static int block_new(struct ftr_memory_blocks *self, struct ftr_memory_block block, uint32_t *i)
{
	if (self->spare.nr > 0) {
		*i = self->spare.v[--self->spare.nr];
		self->blocks.v[*i] = block;
		return 0;
	}
	*i = (uint32_t)self->blocks.nr;
	return ftr_vec_push(&self->blocks, block);
}

static int block_add(struct ftr_memory_blocks *self, uint64_t key, struct ftr_memory_block block)
{
	void *before = ftr_hashmap_take(&self->live, key);
	uint32_t i;

	if (before != NULL) {
		block_free(self, &self->moved, key);
		if (ftr_hashmap_set(&self->moved, key, before) < 0)
			return -ENOMEM;
	}
	if (block_new(self, block, &i) < 0)
		return -ENOMEM;
	return ftr_hashmap_set(&self->live, key, (void *)(uintptr_t)(i + 1));
}

int ftr_memory_blocks_take(struct ftr_memory_blocks *blocks, const struct ftr_event *ev,
			   const struct ftr_memory_request *request, uint32_t owner)
{
	const struct ftr_memory_block block = { request->bytes, owner };

	if (request->from != 0) {
		uint64_t key = key_of(ev, request->from);

		if (!request->is_late || !block_free(blocks, &blocks->moved, key))
			block_free(blocks, &blocks->live, key);
	}
	if (!request->asks || request->address == 0)
		return 0;
	return block_add(blocks, key_of(ev, request->address), block);
}
