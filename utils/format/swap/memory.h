/* SPDX-License-Identifier: MIT */
/* Requests for memory as messages of probes: one row each, with a number that stays. */
#ifndef FTR_FORMAT_SWAP_MEMORY_H
#define FTR_FORMAT_SWAP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "utils/trace/event_kind.h"

struct swap_memory_api {
	uint32_t api;		/* on the wire; the protocol has no numbers of its own */
	uint32_t kind;		/* enum ftr_event_id */
	uint32_t api_type;	/* 0 alloc, 1 free */
	const char *name;
};

static const struct swap_memory_api swap_memory_apis[] = {
	{ 1, FTR_EVENT_ID_MALLOC, 0, "malloc" },	{ 2, FTR_EVENT_ID_CALLOC, 0, "calloc" },
	{ 3, FTR_EVENT_ID_MEMALIGN, 0, "memalign" },	{ 4, FTR_EVENT_ID_NEW, 0, "operator new" },
	{ 5, FTR_EVENT_ID_REALLOC, 0, "realloc" },	{ 6, FTR_EVENT_ID_FREE, 1, "free" },
	{ 7, FTR_EVENT_ID_DELETE, 1, "operator delete" }, { 8, FTR_EVENT_ID_MMAP, 0, "mmap" },
	{ 9, FTR_EVENT_ID_MUNMAP, 1, "munmap" },	{ 10, FTR_EVENT_ID_MREMAP, 0, "mremap" },
	{ 11, FTR_EVENT_ID_BRK, 0, "brk" },
};
#define SWAP_MEMORY_API_NR (sizeof(swap_memory_apis) / sizeof(swap_memory_apis[0]))

#endif /* FTR_FORMAT_SWAP_MEMORY_H */
