/* SPDX-License-Identifier: MIT */
/* See next_got_use of struct ftr_arch (arch/arch.h). */
#ifndef FTR_ARCH_I386_GOT_USES_H
#define FTR_ARCH_I386_GOT_USES_H

#include "arch/arch.h"

bool ftr_arch_next_got_use_i386(const struct ftr_code *code, uint64_t low, uint64_t high,
				size_t *pos, struct ftr_got_use *use);

#endif /* FTR_ARCH_I386_GOT_USES_H */
