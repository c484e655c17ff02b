/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_WATCH: what is looked at when recorded calls begin and end, an event
 * telling where it has changed.  Of the program's image alone.
 *
 *	[ struct ftr_watch ][ struct ftr_watch_variable, variable_nr ]
 */
#ifndef FTR_PROTO_WATCH_H
#define FTR_PROTO_WATCH_H

#include <assert.h>
#include <stdint.h>

#define FTR_WATCH_VARIABLES_MAX 16u

enum ftr_watch_flag {
	FTR_WATCH_CPU = 1 << 0,		/* the processor that the thread runs on */
};

struct ftr_watch_variable {
	uint64_t offset;		/* from the module's first mapping */
	uint32_t bytes;			/* 1, 2, 4 or 8 */
	uint32_t reserved;
};
static_assert(sizeof(struct ftr_watch_variable) == 16, "wire layout");

struct ftr_watch {
	uint32_t flags;			/* FTR_WATCH_* flags */
	uint32_t variable_nr;		/* at most FTR_WATCH_VARIABLES_MAX */
};
static_assert(sizeof(struct ftr_watch) == 8, "wire layout");

#endif /* FTR_PROTO_WATCH_H */
