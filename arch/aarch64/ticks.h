/* SPDX-License-Identifier: MIT */
/* Whether the counter is the same on all processors. */
#ifndef FTR_ARCH_AARCH64_TICKS_H
#define FTR_ARCH_AARCH64_TICKS_H

#include <stdbool.h>

bool ftr_arch_ticks_agree_aarch64(void);	/* of struct ftr_arch */

#endif /* FTR_ARCH_AARCH64_TICKS_H */
