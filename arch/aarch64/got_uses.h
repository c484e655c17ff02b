/* SPDX-License-Identifier: MIT */
/* See got_uses of struct ftr_arch (arch/arch.h). */
#ifndef FTR_ARCH_AARCH64_GOT_USES_H
#define FTR_ARCH_AARCH64_GOT_USES_H

#include "arch/arch.h"

int ftr_arch_got_uses(const struct ftr_code *code, uint64_t low, uint64_t high,
		      ftr_got_use_fn *each, void *arg);

#endif /* FTR_ARCH_AARCH64_GOT_USES_H */
