/* SPDX-License-Identifier: MIT */
/*
 * Where a module's code has functions by its call frame information (.eh_frame), which stripped
 * files have, too.
 */
#ifndef FTR_OBJECT_CODE_RANGE_H
#define FTR_OBJECT_CODE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/object/elf_file.h"

struct ftr_code_range {
	uint64_t addr;		/* as in the file */
	uint64_t bytes;
	uint64_t frame;		/* what says so of it, in .eh_frame */
	uint64_t pads;		/* the table of its landing pads, 0 = it has none */
	bool is_entry;		/* it begins as a call leaves the stack; else it is a part of one */
};

struct ftr_code_ranges {
	FTR_VEC(struct ftr_code_range) ranges;	/* by address; one at each, they may overlap */
};

/* What is damaged is left out.  0 or -ENOMEM; finish it in any case. */
int  ftr_code_ranges_load(struct ftr_code_ranges *ranges, const struct ftr_elf_file *file);
void ftr_code_ranges_fini(struct ftr_code_ranges *ranges);

#endif /* FTR_OBJECT_CODE_RANGE_H */
