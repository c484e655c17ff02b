/* SPDX-License-Identifier: MIT */
/*
 * What the page of html.c shows beside calls: when tasks ran and where, system calls, waits and
 * other things that take time, marks of events, counters, and memory in use.
 *
 * Of each kind of these, --html-calls are kept at most: of what takes time the longest, of blocks
 * of memory such as stand for others, too, of marks every second, fourth ... of the names that have
 * most.
 */
#ifndef FTR_EXPORT_HTML_LANES_H
#define FTR_EXPORT_HTML_LANES_H

#include <stddef.h>
#include <stdint.h>

struct ftr_event;
struct ftr_html_lanes;
struct ftr_ostream;
struct ftr_trace;

/* NULL = out of memory. */
struct ftr_html_lanes *ftr_html_lanes_new(const struct ftr_trace *trace, size_t nr_max);
void ftr_html_lanes_free(struct ftr_html_lanes *lanes);	/* NULL is fine */

/* The next event of a stream ordered by time.  0 or -ENOMEM. */
int ftr_html_lanes_take(struct ftr_html_lanes *lanes, const struct ftr_event *ev);

/* There are no more events.  0 or -ENOMEM. */
int ftr_html_lanes_end(struct ftr_html_lanes *lanes);

/* Make the range of time longer by all that is shown. */
void ftr_html_lanes_extend(const struct ftr_html_lanes *lanes, uint64_t *first_ns,
			   uint64_t *last_ns);

/*
 * The object "lanes" of the page's data, whose times count from @first_ns: see page/head.html.
 * @text: a memory stream to work with.
 */
void ftr_html_lanes_put(const struct ftr_html_lanes *lanes, struct ftr_ostream *out,
			struct ftr_ostream *text, uint64_t first_ns);

#endif /* FTR_EXPORT_HTML_LANES_H */
