/* SPDX-License-Identifier: MIT */
/*
 * Rules that cannot be decided while a program runs: those with conditions, about source files, or
 * about functions of the kernel.  More is recorded then than the rules let through, with the values
 * that conditions are about, and the data directory tells its readers to apply the rules
 * (default.opts).  What is left out of the recording all the same are calls that no reader would
 * show, whatever the conditions turn out to be.
 */
#ifndef FTR_RECORD_DEFERRED_H
#define FTR_RECORD_DEFERRED_H

#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/record/choice.h"

/*
 * Append to @opts what readers have to do of @choice and of the limit @depth (0 = none): nothing,
 * when recording does all of it.
 */
void ftr_record_deferred_opts(const struct ftr_record_choice *choice, uint64_t depth,
			      struct ftr_strbuf *opts);

/*
 * If there is something, leave of @choice and of @rules, which are its own, what may be done while
 * recording, and ask for what conditions need.
 */
void ftr_record_deferred_weaken(struct ftr_record_choice *choice, struct ftr_rules *rules,
				uint64_t *depth);

#endif /* FTR_RECORD_DEFERRED_H */
