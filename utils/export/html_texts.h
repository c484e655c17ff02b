/* SPDX-License-Identifier: MIT */
/*
 * Arguments and return values of a page's calls, as text: "(1, 2) = 3".  Equal ones are kept once,
 * those of calls that were merged since are dropped, and there is room for so many bytes.
 */
#ifndef FTR_EXPORT_HTML_TEXTS_H
#define FTR_EXPORT_HTML_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/strpool.h"
#include "utils/base/vec.h"

struct ftr_event;
struct ftr_html_spans;
struct ftr_html_texts_task;
struct ftr_trace;

struct ftr_html_texts {
	const struct ftr_trace *trace;	/* (borrowed) */
	struct ftr_html_spans *spans;	/* (borrowed) whose texts these are */
	FTR_VEC(struct ftr_html_texts_task *) tasks;	/* (owned, nullable) by task id */
	struct ftr_strpool pool;	/* a text's number is its id */
	FTR_VEC(const struct ftr_str *) strs;		/* by id */
	size_t bytes, bytes_max;	/* of all texts */
	struct ftr_strbuf text;
	uint64_t left_out;		/* at the end: calls, not merged, whose text had no room */
	unsigned full_bits;		/* the grain at which all texts there were in use */
	bool is_full;
};

void ftr_html_texts_init(struct ftr_html_texts *texts, const struct ftr_trace *trace,
			 struct ftr_html_spans *spans, size_t bytes_max);
void ftr_html_texts_fini(struct ftr_html_texts *texts);

/*
 * Follow an event, before the spans get it.  Of an EXIT *number becomes what is known of the call,
 * plus 1; else 0.  0 or -ENOMEM.
 */
int ftr_html_texts_event(struct ftr_html_texts *texts, const struct ftr_event *ev,
			 uint32_t *number);
/* All spans are as they will be written: keep the texts that they have alone.  0 or -ENOMEM. */
int ftr_html_texts_end(struct ftr_html_texts *texts);

#endif /* FTR_EXPORT_HTML_TEXTS_H */
