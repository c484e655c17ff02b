/* SPDX-License-Identifier: MIT */
/*
 * Blocks of memory (record --probe=memory) from the request that gave them until they are given
 * back, each with an owner: whatever its user counts requests by.
 */
#ifndef FTR_TRACE_MEMORY_BLOCKS_H
#define FTR_TRACE_MEMORY_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/event.h"

/* What an event says. */
struct ftr_memory_request {
	uint64_t address, bytes, caller;
	uint64_t from;		/* the block that is given back, 0 = none */
	bool asks;		/* for a block, which it got unless address is 0 */
	bool is_late;		/* realloc: others may have been given the old block since */
};

struct ftr_memory_block {
	uint64_t bytes;
	uint32_t owner;
};

struct ftr_memory_blocks {
	FTR_VEC(struct ftr_memory_block) blocks;	/* those that are free again are in spare */
	FTR_VEC(uint32_t) spare;	/* indexes in blocks */
	struct ftr_hashmap live;	/* by process, image and address: index in blocks, + 1 */
	/*
	 * Of these, blocks whose address was given to another thread before the realloc that gave
	 * it back was recorded, which is after its return.
	 */
	struct ftr_hashmap moved;
	void (*gone)(void *arg, const struct ftr_memory_block *block);	/* it was given back */
	void *arg;
};

void ftr_memory_blocks_init(struct ftr_memory_blocks *blocks,
			    void (*gone)(void *arg, const struct ftr_memory_block *block),
			    void *arg);
void ftr_memory_blocks_fini(struct ftr_memory_blocks *blocks);

/* Is the event a request for memory, or one that gives it back?  Pages (mmap, brk) are none. */
bool ftr_memory_request_read(struct ftr_memory_request *request, const struct ftr_event *ev);

/*
 * Take the next request, of a stream ordered by time; @owner is that of the block it is given, if
 * it asks for one.  0 or -ENOMEM.
 */
int ftr_memory_blocks_take(struct ftr_memory_blocks *blocks, const struct ftr_event *ev,
			   const struct ftr_memory_request *request, uint32_t owner);

#endif /* FTR_TRACE_MEMORY_BLOCKS_H */
