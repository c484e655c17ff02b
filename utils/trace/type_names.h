/* SPDX-License-Identifier: MIT */
/*
 * Names of enumerations and of structs, for a file in which each means one thing.  In a trace they
 * mean one thing in a module: others of a name become NAME_2, NAME_3 ...
 */
#ifndef FTR_TRACE_TYPE_NAMES_H
#define FTR_TRACE_TYPE_NAMES_H

#include <stdbool.h>

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/args.h"

struct ftr_type_name {
	const char *name;
	const char *words;	/* "RED=0,BLUE=1"; a shape (utils/trace/shape.h); "" = not known */
	const struct ftr_arg_enum *values;	/* (nullable) of an enumeration that is known */
};

/* Zeroes are an empty one, but for the arena. */
struct ftr_type_names {
	struct ftr_arena arena;
	struct ftr_hashmap by_type;	/* address of what is known of it -> struct ftr_type_name */
	struct ftr_hashmap by_name[2];	/* of enumerations, of structs: hash -> the same */
	FTR_VEC(const struct ftr_type_name *) all;	/* shapes behind their enumerations */
};

void ftr_type_names_init(struct ftr_type_names *names);
void ftr_type_names_fini(struct ftr_type_names *names);

/*
 * What the type of @arg, an ENUM or a STRUCT, is called, as long as @names; a type without a name,
 * or another format, has none: NULL.  0 or -ENOMEM.
 */
int ftr_type_names_get(struct ftr_type_names *names, const struct ftr_arg *arg, const char **name);

#endif /* FTR_TRACE_TYPE_NAMES_H */
