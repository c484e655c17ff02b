/* SPDX-License-Identifier: MIT */
/* Where exceptions go on in a function: the landing pads of .gcc_except_table. */
#ifndef FTR_OBJECT_LANDING_PADS_H
#define FTR_OBJECT_LANDING_PADS_H

#include <stdint.h>

#include "utils/object/code_range.h"

typedef void ftr_landing_pad_fn(void *arg, uint64_t addr);

/* Tell each of @range.  What is damaged is left out. */
void ftr_landing_pads(const struct ftr_elf_file *file, const struct ftr_code_range *range,
		      ftr_landing_pad_fn *each, void *arg);

#endif /* FTR_OBJECT_LANDING_PADS_H */
