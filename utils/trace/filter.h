/* SPDX-License-Identifier: MIT */
/*
 * filter: shows the calls that rules choose, and leaves the others out; what rules say at an ENTRY.
 * Depth stays exact; durations are those of the whole calls, and a call that is left out stays
 * somebody's callee.  doc/adr/0028-rules-as-a-stream-transform.md says what counts when rules meet.
 */
#ifndef FTR_TRACE_FILTER_H
#define FTR_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_pipeline_options;
struct ftr_rule_plans;
struct ftr_source;
struct ftr_stacks;

/* Is there anything to leave out or to mark?  Then the depth of @options is filter's, too. */
bool ftr_filter_is_needed(const struct ftr_pipeline_options *options);

/*
 * Is what one task does seen in others?  Then @inner has to have all tasks, in order of time: a
 * switch is that of a process.
 */
bool ftr_filter_needs_all_tasks(const struct ftr_pipeline_options *options);

/*
 * Do rules act at calls that threshold leaves out: switch, end the stream, or count?  Or are calls
 * left out here that others are kept for there?  Both differ from what is recorded of a program,
 * where rules are asked when a call begins, and it is left out when it ends.  Then
 * ftr_filter_ahead_new stands before threshold, and looks at all calls.
 */
bool ftr_filter_looks_ahead(const struct ftr_pipeline_options *options);

/* As ftr_filter_new, of which another one follows: leaves nothing out, but behind a finish. */
struct ftr_source *ftr_filter_ahead_new(struct ftr_source *inner,
					const struct ftr_pipeline_options *options);

/*
 * Wrap @inner, which went through calls, and take it over (also on failure).  What @options borrow
 * lives for as long as the source, and so do @stacks (nullable), which events of calls number.
 * NULL = out of memory.
 */
struct ftr_source *ftr_filter_new(struct ftr_source *inner, const struct ftr_stacks *stacks,
				  const struct ftr_pipeline_options *options);

#endif /* FTR_TRACE_FILTER_H */
