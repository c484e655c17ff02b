/* SPDX-License-Identifier: MIT */
/* See next_got_use and got_uses of struct ftr_arch (arch/arch.h). */
#ifndef FTR_ARCH_AARCH64_GOT_USES_H
#define FTR_ARCH_AARCH64_GOT_USES_H

#include "arch/arch.h"

bool ftr_arch_next_got_use_aarch64(const struct ftr_code *code, uint64_t low, uint64_t high,
				   size_t *pos, struct ftr_got_use *use);
int ftr_arch_got_uses_aarch64(const struct ftr_code *code, uint64_t low, uint64_t high,
			      ftr_got_use_fn *each, void *arg);

#endif /* FTR_ARCH_AARCH64_GOT_USES_H */
