/* SPDX-License-Identifier: MIT */
/* Columns that a user picks with -f: "a,b", "+c" (the default and c), "all", "none". */
#ifndef FTR_VIEW_FIELDS_H
#define FTR_VIEW_FIELDS_H

#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/text.h"

struct ftr_field_name {
	const char *name;	/* NULL ends the table; a field's number is its row */
};

/*
 * @mask gets a bit for each field; it holds the default before.  @text NULL keeps the default.
 * -EINVAL: unknown field, with the list of those that are.
 */
int ftr_fields_parse(const struct ftr_field_name *table, const char *text, uint64_t *mask,
		     struct ftr_err *err);

/* -EINVAL: @key, which sorts, is none of @others ("func avg") and of the fields. */
int ftr_fields_refuse_key(const struct ftr_field_name *table, const char *others,
			  struct ftr_slice key, struct ftr_err *err);

#endif /* FTR_VIEW_FIELDS_H */
