/* SPDX-License-Identifier: MIT */
/*
 * A store that holds the newest records back in memory, so much of them or of so long a time, and
 * passes them on when it is told to: a flight recorder.  doc/adr/0039-flight-recorder.md
 */
#ifndef FTR_RECORD_STORE_FLIGHT_H
#define FTR_RECORD_STORE_FLIGHT_H

#include <pthread.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/record/store.h"

struct ftr_flight_chunk;

/* How much is held: the newest that is within both. */
struct ftr_flight_limits {
	uint64_t bytes;			/* of memory; 0 = nothing is held back, there is no limit */
	uint64_t ns;			/* before the newest record; 0 = of any time */
};

struct ftr_store_flight {
	struct ftr_store base;			/* first: ops receive a pointer to it */
	struct ftr_store *inner;		/* (borrowed) */
	struct ftr_flight_limits limits;
	pthread_mutex_t lock;			/* of what follows */
	struct ftr_flight_chunk *oldest, *newest; /* (owned) in the order in which they came */
	uint64_t bytes;				/* of all chunks */
	uint64_t newest_ns;			/* time of the newest record that came */
	struct ftr_hashmap dropped;		/* by tid: records dropped since the last dump */
	unsigned dump_nr;
};

/* @inner gets what is passed on, and at once what is not of one moment: counts, names of events. */
void ftr_store_flight_init(struct ftr_store_flight *flight, struct ftr_store *inner,
			   const struct ftr_flight_limits *limits);
/* Whatever is still held is dropped. */
void ftr_store_flight_fini(struct ftr_store_flight *flight);

#endif /* FTR_RECORD_STORE_FLIGHT_H */
