/* SPDX-License-Identifier: MIT */
/*
 * Argument specs as texts: "FUNC@arg1/i32,arg2/s;..." and enumerations "enum NAME { A, B = 4 };".
 * They are the only description of the payloads of a uftrace directory.
 */
#ifndef FTR_FORMAT_UFTRACE_SPEC_H
#define FTR_FORMAT_UFTRACE_SPEC_H

#include <stdbool.h>

#include "utils/base/arena.h"
#include "utils/base/hashmap.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/trace/args.h"

struct ftr_diag;

enum uft_spec_kind {
	UFT_SPEC_ARGS,		/* argN, fpargN */
	UFT_SPEC_RETVAL,
};

/* Enumerations by name, and the shapes of structs. */
struct uft_enums {
	struct ftr_hashmap by_name;	/* hash of the name -> const struct ftr_arg_enum * */
	struct ftr_hashmap shapes;	/* hash of the name -> struct uft_shape * */
};

struct uft_arg {
	struct ftr_arg arg;
	struct ftr_slice word;	/* the whole of it */
	struct ftr_slice where;	/* "rdi", "stack+1"; empty: where the index says */
	bool is_exact;		/* by the function's whole name */
};

/* A layout while words are added to it. */
struct uft_layout {
	FTR_VEC(struct uft_arg) args;
	const char *wrong;	/* (nullable) what is wrong with the last word that is no spec */
	const char *wrong_at;	/* where, in the words */
};

/*
 * The text of one "enum NAME { ... }"; damaged ones are warned about as from @where.  0 or -ENOMEM.
 */
int uft_enums_parse(struct uft_enums *enums, struct ftr_slice text, struct ftr_arena *arena,
		    struct ftr_diag *diag, const char *where);
const struct ftr_arg_enum *uft_enums_find(const struct uft_enums *enums, struct ftr_slice name);

/* "NAME SHAPE" (utils/trace/shape.h).  0, -EINVAL or -ENOMEM. */
int uft_shape_parse(struct uft_enums *enums, struct ftr_slice text, struct ftr_arena *arena);
const struct ftr_shape *uft_shape_find(const struct uft_enums *enums, struct ftr_slice name);

/* What specs are read with. */
struct uft_spec_reader {
	const struct uft_enums *enums[2];	/* (nullable) where enumerations are looked up */
	struct ftr_arena *arena;
	bool is_32;
	bool is_strict;		/* all words have to be specs: no module's name is among them */
};

/*
 * Add the specs of "arg1/i32,arg2/s" that are of @kind.  One of an argument that has one already
 * replaces it, unless that @is_exact and this is not.  @words have to stay as long as the layout.
 * 0, -EINVAL (a spec that is neither; the rest is added) or -ENOMEM.
 */
int uft_layout_add(struct uft_layout *layout, struct ftr_slice words, enum uft_spec_kind kind,
		   bool is_exact, const struct uft_spec_reader *reader);

/* The finished layout in @arena; NULL when it has no words, or out of memory. */
const struct ftr_argspec *uft_layout_finish(struct uft_layout *layout, struct ftr_arena *arena);

#endif /* FTR_FORMAT_UFTRACE_SPEC_H */
