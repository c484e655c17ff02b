/* SPDX-License-Identifier: MIT */
/* LSAN messages of the writer of SWAP streams; for swap/write*.c only. */
#ifndef FTR_FORMAT_SWAP_WRITE_LEAK_H
#define FTR_FORMAT_SWAP_WRITE_LEAK_H

#include "utils/base/hashmap.h"
#include "utils/trace/memory_blocks.h"

struct swap_leak_site;
struct swap_process;
struct swap_writer;

/* Who makes a process's LSAN messages. */
enum swap_leaks_by {
	SWAP_LEAKS_NONE,	/* nobody yet: it has made no request that is known */
	SWAP_LEAKS_OURS,
	SWAP_LEAKS_OF_OTHERS,	/* they were read, and are passed on */
};

struct swap_leaks {
	struct ftr_memory_blocks blocks;		/* an owner is a site */
	FTR_VEC(struct swap_leak_site) sites;
	struct ftr_hashmap by_place;			/* number of the site, + 1 */
};

void swap_leaks_init(struct swap_leaks *leaks);
void swap_leaks_fini(struct swap_leaks *leaks);

/* Is @ev a request for memory, it counts.  0 or -errno. */
int swap_take_request(struct swap_writer *w, const struct ftr_event *ev);
/* @ev is an LSAN message that was read: those of its process are not ours. */
void swap_leaks_shown(struct swap_writer *w, const struct ftr_event *ev);
/* What a process gave back may be among the records that @ev says are lost. */
void swap_leaks_lost(struct swap_writer *w, const struct ftr_event *ev);
/* The report of a process that ends, if it has leaks. */
int swap_write_leaks(struct swap_writer *w, const struct swap_process *process);

#endif /* FTR_FORMAT_SWAP_WRITE_LEAK_H */
