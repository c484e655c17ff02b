/* SPDX-License-Identifier: MIT */
/* What is made of runs (utils/trace/run.h) beside what is made of the same trace's events. */
#ifndef FTR_TESTS_FUZZ_RUNS_H
#define FTR_TESTS_FUZZ_RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct ftr_strbuf;
struct ftr_trace;

/* How sums are made; chunk_bytes 0: of events. */
struct runs_way {
	size_t chunk_bytes;
	unsigned thread_nr;
};

/*
 * Append all sums of @trace, which is read to its end and freed, as text: by function, or the tree
 * of calls.  Returns how many events came in runs.
 */
size_t runs_text(struct ftr_trace *trace, const struct runs_way *way, bool is_tree,
		 struct ftr_strbuf *text);

#endif /* FTR_TESTS_FUZZ_RUNS_H */
