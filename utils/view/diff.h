/* SPDX-License-Identifier: MIT */
/* Runs that were compared, as a table or as lines of JSON. */
#ifndef FTR_VIEW_DIFF_H
#define FTR_VIEW_DIFF_H

#include <stdbool.h>

#include "utils/base/ostream.h"

struct ftr_compare;

struct ftr_diff_opts {
	bool shows_all;		/* also what is the same */
	bool use_color;
};

void ftr_diff_print(const struct ftr_compare *compare, const struct ftr_diff_opts *opts,
		    struct ftr_ostream *out);
void ftr_diff_print_json(const struct ftr_compare *compare, const struct ftr_diff_opts *opts,
			 struct ftr_ostream *out);

#endif /* FTR_VIEW_DIFF_H */
