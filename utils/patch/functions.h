/* SPDX-License-Identifier: MIT */
/*
 * The functions of a module and what is known of their first bytes: what leads there, from
 * anywhere in the module.  By the bytes of all code and data, so that nothing is missed; what looks
 * like a lead by chance costs the patching of a function at most.
 */
#ifndef FTR_PATCH_FUNCTIONS_H
#define FTR_PATCH_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "utils/base/vec.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"

/* Bytes behind the landing, and behind the end, whose leads are told apart. */
#define FTR_FUNCTION_INTO_MAX 8
#define FTR_FUNCTION_BEHIND_MAX 64

struct ftr_function {
	const struct ftr_code *section;
	const struct ftr_symbol *symbol; /* (nullable) */
	uint64_t addr;			/* as in the file */
	uint32_t bytes;
	uint8_t	 landing;		/* what an indirect jump may land on, before its code */
	uint8_t	 into;			/* bit n: something leads to byte n behind it, but for 0 */
	bool is_entry;			/* called: by its call frame information */
	bool is_called, is_jumped_to, is_branched_to, is_taken; /* its start */
	bool is_loop;			/* it leads to its own start */
	uint64_t behind;		/* bit n: something leads to byte n behind its end */
	uint32_t parent;		/* the last that jumps to it, + 1; 0 = none */
};

/* By their indices. */
struct ftr_function_jump {
	uint32_t from, to;
};

/* A place in the midst of code: does anything lead there? */
#define FTR_PLACE_BYTES 32
struct ftr_code_place {
	uint64_t addr;			/* as in the file */
	uint32_t into;			/* bit n: something leads to byte n */
};

struct ftr_functions {
	const struct ftr_elf_file *file;
	const struct ftr_arch *arch;
	uint64_t low, high;		/* all that is mapped */
	FTR_VEC(struct ftr_code) code;	/* the sections that are run */
	FTR_VEC(struct ftr_code) data;	/* and those that are not */
	FTR_VEC(struct ftr_function) all; /* by address, none overlaps */
	unsigned without_frames;	/* functions by their symbols alone */
	FTR_VEC(uint32_t) starts;	/* the first function at or behind each 16th byte */
	FTR_VEC(struct ftr_function_jump) jumps; /* to starts, from others */
	struct ftr_code_place *places;	/* (borrowed) place_nr of them, by address */
	size_t place_nr;
};

/*
 * @symbols are the file's and outlive it; so do the places that were set before, of which it is
 * found out what leads into them.  0 or -ENOMEM; finish it in any case.
 */
int  ftr_functions_load(struct ftr_functions *functions, const struct ftr_elf_file *file,
			const struct ftr_symtab *symbols);
void ftr_functions_fini(struct ftr_functions *functions);

/* The one at @addr or the last before it; NULL = there is none. */
struct ftr_function *ftr_function_before(const struct ftr_functions *functions, uint64_t addr);

/* The one that has a byte at @addr; NULL = there is none. */
struct ftr_function *ftr_function_around(const struct ftr_functions *functions, uint64_t addr);

/* Its code, up to its end. */
struct ftr_code ftr_function_code(const struct ftr_function *function);

/* May it be a part of another function, for all that is known?  Then it is no call's. */
bool ftr_function_may_be_part(const struct ftr_function *function);

#endif /* FTR_PATCH_FUNCTIONS_H */
