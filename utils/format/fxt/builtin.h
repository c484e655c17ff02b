/* SPDX-License-Identifier: MIT */
/* uftrace's events, and the names of the values of its counters, for the FXT writer and reader. */
#ifndef FTR_FORMAT_FXT_BUILTIN_H
#define FTR_FORMAT_FXT_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FXT_FIELDS_MAX 3

struct fxt_builtin {
	uint32_t id;
	const char *name;
	bool is_difference;	/* signed */
	uint8_t field_nr;	/* 8 bytes each; 0 = not a counter */
	const char *fields[FXT_FIELDS_MAX];
};

const struct fxt_builtin *fxt_builtin_by_id(uint64_t id);		/* NULL = none */
const struct fxt_builtin *fxt_builtin_by_name(const char *name);	/* NULL = none */

#endif /* FTR_FORMAT_FXT_BUILTIN_H */
