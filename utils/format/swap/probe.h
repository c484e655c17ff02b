/* SPDX-License-Identifier: MIT */
/* Events as messages of probes: one row each function, with a number that stays. */
#ifndef FTR_FORMAT_SWAP_PROBE_H
#define FTR_FORMAT_SWAP_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "utils/format/swap/message.h"
#include "utils/trace/event_kind.h"

struct swap_api {
	uint32_t api;		/* on the wire; the protocol has no numbers of its own */
	uint32_t kind;		/* enum ftr_event_id; of a wait its begin: the end is the next */
	uint32_t message;
	uint32_t api_type;	/* of a wait its begin: the end is the next */
	uint32_t type;		/* sync_type */
	const char *name;
};

#define SWAP_MEMORY(api_, kind_, api_type_, name_) \
	{ (api_), FTR_EVENT_ID_##kind_, SWAP_MSG_PROBE_MEMORY, (api_type_), 0, (name_) }
#define SWAP_SYNC(api_, kind_, api_type_, type_, name_) \
	{ (api_), FTR_EVENT_ID_SYNC_##kind_, SWAP_MSG_PROBE_SYNC, (api_type_), (type_), (name_) }

/* By number, from 1 on. */
static const struct swap_api swap_apis[] = {
	SWAP_MEMORY(1, MALLOC, 0, "malloc"),
	SWAP_MEMORY(2, CALLOC, 0, "calloc"),
	SWAP_MEMORY(3, MEMALIGN, 0, "memalign"),
	SWAP_MEMORY(4, NEW, 0, "operator new"),
	SWAP_MEMORY(5, REALLOC, 0, "realloc"),
	SWAP_MEMORY(6, FREE, 1, "free"),
	SWAP_MEMORY(7, DELETE, 1, "operator delete"),
	SWAP_MEMORY(8, MMAP, 0, "mmap"),
	SWAP_MEMORY(9, MUNMAP, 1, "munmap"),
	SWAP_MEMORY(10, MREMAP, 0, "mremap"),
	SWAP_MEMORY(11, BRK, 0, "brk"),
	SWAP_SYNC(12, MUTEX, 1, 3, "pthread_mutex_lock"),
	SWAP_SYNC(13, READ, 1, 5, "pthread_rwlock_rdlock"),
	SWAP_SYNC(14, WRITE, 1, 5, "pthread_rwlock_wrlock"),
	SWAP_SYNC(15, COND, 5, 4, "pthread_cond_wait"),
	SWAP_SYNC(16, BARRIER, 1, 7, "pthread_barrier_wait"),
	SWAP_SYNC(17, SEM, 1, 2, "sem_wait"),
	{ 18, FTR_EVENT_ID_SYNC_JOIN, SWAP_MSG_PROBE_THREAD, 4, 0, "pthread_join" },
};
#define SWAP_API_NR (sizeof(swap_apis) / sizeof(swap_apis[0]))

#endif /* FTR_FORMAT_SWAP_PROBE_H */
