/* SPDX-License-Identifier: MIT */
/* What is made of runs (utils/trace/run.h) beside what is made of the same trace's events. */
#ifndef FTR_TESTS_FUZZ_RUNS_H
#define FTR_TESTS_FUZZ_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_strbuf;
struct ftr_trace;

/* How sums are made; chunk_bytes 0: of events. */
struct runs_way {
	size_t chunk_bytes;
	unsigned thread_nr;
};

/* Which sums are made: all zero = by function, of all calls. */
struct runs_what {
	bool is_tree;			/* of calls */
	uint64_t threshold_ns;
	uint32_t depth_max;
	const char *rules;		/* (nullable) "-F main -T work@depth=2" */
};

/*
 * Append the sums of @trace, which is read to its end and freed, as text.  Returns how many events
 * came in runs.
 */
size_t runs_text(struct ftr_trace *trace, const struct runs_way *way, const struct runs_what *what,
		 struct ftr_strbuf *text);

#endif /* FTR_TESTS_FUZZ_RUNS_H */
