/* SPDX-License-Identifier: MIT */
/*
 * Values with what they consist of and lead to: the ops that copy it into one value of a payload,
 * and the words that say what is where in it (utils/trace/shape.h).
 */
#ifndef FTR_RECORD_VALUE_SHAPE_H
#define FTR_RECORD_VALUE_SHAPE_H

#include "utils/record/value.h"
#include "utils/record/value_enums.h"

struct ftr_value_shapes {
	struct ftr_value_enums *enums;	/* (borrowed) of a NAME.dbg */
	struct ftr_strbuf *lines;	/* (borrowed) of it */
	struct ftr_hashmap names;	/* hash of a name -> its words */
	struct ftr_arena arena;

	/* What was made last. */
	struct ftr_value_programs programs;
	struct ftr_strbuf words;
	uint32_t bytes;
};

void ftr_value_shapes_init(struct ftr_value_shapes *shapes, struct ftr_value_enums *enums,
			   struct ftr_strbuf *lines);
void ftr_value_shapes_fini(struct ftr_value_shapes *shapes);

/* Is there more to say of @value than itself? */
bool ftr_value_has_shape(const struct ftr_parameter *value);

/* Make the words of @value, which has one, and the ops.  0, -ENOMEM or -E2BIG. */
int ftr_value_shape_make(struct ftr_value_shapes *shapes, const struct ftr_parameter *value);

/* The name of what was made last in NAME.dbg; a new one gets a line.  NULL: out of memory. */
const char *ftr_value_shape_name(struct ftr_value_shapes *shapes, const char *type_name);

/* That of a type of which nothing more is told, and that no shape has.  NULL: out of memory. */
const char *ftr_value_plain_name(struct ftr_value_shapes *shapes, const char *type_name);

#endif /* FTR_RECORD_VALUE_SHAPE_H */
