/* SPDX-License-Identifier: MIT */
/*
 * What a tree of calls can be drawn by instead of the time of calls: each a weight of events that
 * happen in them.  One table for the option --by of graph and of exports.
 */
#ifndef FTR_ANALYSIS_WEIGHT_H
#define FTR_ANALYSIS_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_ostream;

/* The order of ftr_weight_words. */
enum ftr_weight_by {
	FTR_WEIGHT_TIME,	/* of calls: no weight */
	FTR_WEIGHT_BYTES,
	FTR_WEIGHT_BLOCKS,
	FTR_WEIGHT_LEAK,
	FTR_WEIGHT_WAIT,
	FTR_WEIGHT_SAMPLES,
	FTR_WEIGHTS
};

struct ftr_weight {
	enum ftr_weight_by by;
	const char *unit;	/* "bytes"; NULL: nanoseconds */
	const char *each;	/* what is counted: "block" */
	const char *title;	/* "bytes of memory that was asked for" */
	const char *events;	/* "requests for memory" */
	const char *how;	/* they come into a trace: "--probe=memory" */
};

/* For an option's choice: by enum ftr_weight_by. */
extern const char *const ftr_weight_words[];

const struct ftr_weight *ftr_weight_of(enum ftr_weight_by by);	/* NULL: time of calls */

/* Ten columns, blank when it is 0.  @weight nullable. */
void ftr_weight_write(struct ftr_ostream *out, const struct ftr_weight *weight, uint64_t value,
		      bool use_color);

/* "1234 bytes", "1.234 us" */
#define FTR_WEIGHT_TEXT_MAX 40
void ftr_weight_text(char text[FTR_WEIGHT_TEXT_MAX], const struct ftr_weight *weight,
		     uint64_t value);

#endif /* FTR_ANALYSIS_WEIGHT_H */
