/* SPDX-License-Identifier: MIT */
/* The functions that a running program spends its time in, as a table of so many lines. */
#ifndef FTR_VIEW_TOP_H
#define FTR_VIEW_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/analysis/rates.h"
#include "utils/base/err.h"
#include "utils/base/ostream.h"

struct ftr_top_opts {
	const char *title;	/* what is traced */
	uint64_t interval_ns;
	enum ftr_rate_key key;
	bool is_all;		/* since the beginning; else the last interval */
	unsigned rows;		/* at most, of functions; 0 = all */
	const char *line_end;	/* "\n", or what a terminal needs, too */
	bool use_color;
};

/* The words of -s, in the order of enum ftr_rate_key, then NULL. */
extern const char *const ftr_top_keys[];

/* A title, a head, and a line for each function.  0 or -ENOMEM. */
int ftr_top_print(const struct ftr_rates *rates, const struct ftr_top_opts *opts,
		  struct ftr_ostream *out);

#endif /* FTR_VIEW_TOP_H */
