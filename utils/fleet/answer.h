/* SPDX-License-Identifier: MIT */
/*
 * A cursor over what a server answered, as RowBinary.  Beyond the end of an answer that is cut
 * short, values are 0 and empty, and is_cut says so.
 */
#ifndef FTR_FLEET_ANSWER_H
#define FTR_FLEET_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/text.h"

struct ftr_answer {
	const uint8_t *p, *end;	/* (borrowed) */
	bool is_cut;
};

struct ftr_answer ftr_answer_of(const struct ftr_strbuf *text);
bool ftr_answer_has_more(const struct ftr_answer *answer);

uint64_t ftr_answer_u64(struct ftr_answer *answer);
double   ftr_answer_double(struct ftr_answer *answer);
/* A length, of a string or an array. */
uint64_t ftr_answer_length(struct ftr_answer *answer);
struct ftr_slice ftr_answer_string(struct ftr_answer *answer);

#endif /* FTR_FLEET_ANSWER_H */
