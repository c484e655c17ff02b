/* SPDX-License-Identifier: MIT */
/* What the page of html.c is made by, and what a page that is served asks for later. */
#ifndef FTR_EXPORT_HTML_H
#define FTR_EXPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/strbuf.h"

struct ftr_ostream;
struct ftr_sink_ops;

/* A page may be of two traces, which one sink after the other writes to the same stream. */
enum ftr_html_of {
	FTR_HTML_OF_ONE,
	FTR_HTML_OF_FIRST,
	FTR_HTML_OF_SECOND,
};

/* The values of the format html. */
struct ftr_html_values {
	uint64_t call_nr;		/* in the timeline */
	bool is_served;			/* the page can ask for more; by no option */
	uint8_t of;			/* enum ftr_html_of; by no option */
};

/* The values of ftr_html_part_ops: what of the trace ends or begins from one time to another. */
struct ftr_html_part {
	uint64_t from_ns, to_ns;
	size_t span_nr;			/* at most */
	const char *warning;		/* what was said until the end; "" = nothing */
};

/*
 * A sink that writes {"warning","first","grain","names","tasks"}: names by name_id, the rest as in
 * the page (page/head.html).
 */
extern const struct ftr_sink_ops ftr_html_part_ops;

/* The values of ftr_html_call_ops: a call, and what is known of it; strings are initialised. */
struct ftr_html_call {
	uint64_t start_ns, end_ns;
	int32_t tid;
	uint32_t depth;
	struct ftr_strbuf args;		/* "(1, 2)", empty: not recorded */
	struct ftr_strbuf retval;	/* "3" */
	struct ftr_strbuf place;	/* "file.c:12" */
};

/* A sink that fills its values in, from one or several readings, and writes nothing. */
extern const struct ftr_sink_ops ftr_html_call_ops;
/* {"args","retval","place"} */
void ftr_html_call_put(const struct ftr_html_call *call, struct ftr_ostream *out);

#endif /* FTR_EXPORT_HTML_H */
