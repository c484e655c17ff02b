/* SPDX-License-Identifier: MIT */
/* The names that enumerations have in a NAME.dbg, where there is one of each name. */
#ifndef FTR_RECORD_VALUE_ENUMS_H
#define FTR_RECORD_VALUE_ENUMS_H

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/object/signature.h"

struct ftr_value_enums {
	struct ftr_hashmap names;	/* of a type in the file, by its id -> const char * */
	struct ftr_hashmap types;	/* by hash of a name -> const struct ftr_enum_type * */
	struct ftr_hashmap missed;	/* by hash of a name that none has */
	struct ftr_arena arena;
};

void ftr_value_enums_init(struct ftr_value_enums *enums);
void ftr_value_enums_fini(struct ftr_value_enums *enums);

/*
 * The name of @type; when it is new its line is appended to @lines.  NULL: it has no enumerators,
 * or more than a line should have.
 */
const char *ftr_value_enums_name(struct ftr_value_enums *enums, const struct ftr_enum_type *type,
				 struct ftr_strbuf *lines);

/* Has a line that name? */
bool ftr_value_enums_has(const struct ftr_value_enums *enums, const char *name);

/* Note that there is none of that name.  Is it the first time? */
bool ftr_value_enums_miss(struct ftr_value_enums *enums, const char *name);

#endif /* FTR_RECORD_VALUE_ENUMS_H */
