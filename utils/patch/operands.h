/* SPDX-License-Identifier: MIT */
/* The arguments of an event, as its note says where they are: "-4@%edi 8@16(%rsp)". */
#ifndef FTR_PATCH_OPERANDS_H
#define FTR_PATCH_OPERANDS_H

#include <stdbool.h>

#include "arch/arch.h"
#include "utils/object/symtab.h"
#include "utils/proto/sdt.h"

struct ftr_operands {
	struct ftr_sdt_arg v[FTR_SDT_ARGS_MAX];
	bool is_address[FTR_SDT_ARGS_MAX]; /* its value counts from the module's base */
	uint32_t nr;
};

/* What is not understood is NOWHERE.  @symbols are those of the file. */
void ftr_operands_read(struct ftr_operands *operands, const char *text, ftr_arch_operand_fn *read,
		       const struct ftr_symtab *symbols);

#endif /* FTR_PATCH_OPERANDS_H */
