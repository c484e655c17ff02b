/* SPDX-License-Identifier: MIT */
/*
 * range: only what happens from one time to another.  Calls that are open at its start get an ENTRY
 * there (FTR_EVENT_NO_ENTRY | FTR_EVENT_INFERRED), those open at its end an EXIT
 * (FTR_EVENT_UNFINISHED), so that the stream stays well-formed; their durations are cut.
 */
#ifndef FTR_TRACE_RANGE_H
#define FTR_TRACE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_pipeline_options;
struct ftr_source;

/* Is there anything to cut? */
bool ftr_range_is_needed(const struct ftr_pipeline_options *options);

/* Its ends as times, where elapsed times count from @first_ns. */
struct ftr_range_ends {
	uint64_t from_ns;
	uint64_t to_ns;
};

struct ftr_range_ends ftr_range_ends(const struct ftr_pipeline_options *options, uint64_t first_ns);

/*
 * Wrap @inner, which went through calls and is ordered by time, and take it over (also on failure).
 * Both ends belong to the range.  Elapsed times count from @first_ns, or, when that is 0, from the
 * first event. NULL = out of memory.
 */
struct ftr_source *ftr_range_new(struct ftr_source *inner,
				 const struct ftr_pipeline_options *options, uint64_t first_ns);

#endif /* FTR_TRACE_RANGE_H */
