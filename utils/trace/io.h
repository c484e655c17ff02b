/* SPDX-License-Identifier: MIT */
/*
 * Calls on files and sockets (record --probe=file,net) as they stand in a stream of events: each
 * begins and ends by an event, and is done with what a descriptor, a path or an address leads to.
 */
#ifndef FTR_TRACE_IO_H
#define FTR_TRACE_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/trace/event.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/per_task.h"

struct ftr_io {
	struct ftr_strpool names;
	struct ftr_hashmap by_fd;	/* of processes: struct ftr_str; the map itself = closed */
	struct ftr_per_task open;	/* calls */
	struct ftr_strbuf text;
};

/* A call at its begin, or at its end. */
struct ftr_io_call {
	const struct ftr_event_kind *kind;	/* of its begin */
	bool     is_end;
	bool     has_begin;	/* else the argument and so on are not known */
	int64_t  fd;		/* the descriptor; of a path, that of the directory it is below */
	uint64_t argument;	/* what the kind says: bytes, flags, a mode ...; 0 = none */
	uint64_t caller;
	int64_t  result;	/* of an end; below 0: a negated errno */
	const char *name;	/* what it is done with, "fd 7" where nothing more is known */
	const char *path, *to;	/* (nullable) as they were given; path also an address */
	uint64_t peer_family;	/* of an end that has a peer: of its address, 0 = there was none */
	const char *peer;	/* (nullable) ... which is this */
};

void ftr_io_init(struct ftr_io *io);
void ftr_io_fini(struct ftr_io *io);

/*
 * @ev, of a stream in which each task is ordered by time: 1 = it is such an event, and *call what
 * it says, whose texts are io's; 0 = it is none; -ENOMEM.
 */
int ftr_io_next(struct ftr_io *io, const struct ftr_event *ev, struct ftr_io_call *call);

/* Does what the call moved count: bytes that were read, or written? */
static inline bool ftr_io_reads(const struct ftr_event_kind *kind)
{
	return kind->id == FTR_EVENT_ID_FILE_READ || kind->id == FTR_EVENT_ID_NET_RECEIVE ||
	       kind->id == FTR_EVENT_ID_NET_RECEIVE_FROM;
}

static inline bool ftr_io_writes(const struct ftr_event_kind *kind)
{
	return kind->id == FTR_EVENT_ID_FILE_WRITE || kind->id == FTR_EVENT_ID_NET_SEND ||
	       kind->id == FTR_EVENT_ID_NET_SEND_TO;
}

/* It is of a socket, or waits for descriptors. */
static inline bool ftr_io_is_net(const struct ftr_event_kind *kind)
{
	return kind->id >= FTR_EVENT_ID_NET_SOCKET;
}

static inline bool ftr_io_moves(const struct ftr_event_kind *kind)
{
	return ftr_io_reads(kind) || ftr_io_writes(kind);
}

#endif /* FTR_TRACE_IO_H */
