/* SPDX-License-Identifier: MIT */
/*
 * The way from a recorded value to what it consists of or leads to, as C has it:
 *
 *	path = { "." NAME | "->" NAME | "[" N "]" }
 *
 * Both "." and "->" pass through pointers and references on their way.  A NAME is a member's, that
 * of an alternative of an enum (Some), the number of a tuple's member, or "size" of a container.
 */
#ifndef FTR_TRACE_VALUE_PATH_H
#define FTR_TRACE_VALUE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/text.h"
#include "utils/trace/args.h"

#define FTR_VALUE_PATH_MAX 8u		/* values are recorded less deep */

struct ftr_value_step {
	struct ftr_slice name;		/* .s == NULL: an element */
	uint32_t index;
};

struct ftr_value_path {
	struct ftr_value_step steps[FTR_VALUE_PATH_MAX];
	unsigned nr;
};

/*
 * Read the path at the begin of @text, whose end *len tells: 0 = there is none.  Names stay slices
 * of @text.  NULL, or what is expected at *len.
 */
const char *ftr_value_path_parse(struct ftr_value_path *path, const char *text, size_t *len);

/*
 * What @path leads to in @from, a struct with a shape: @value, of the type *type.  False: nowhere,
 * or it was not recorded.
 */
bool ftr_value_path_find(const struct ftr_value_path *path, const struct ftr_value *from,
			 struct ftr_arg *type, struct ftr_value *value);

#endif /* FTR_TRACE_VALUE_PATH_H */
