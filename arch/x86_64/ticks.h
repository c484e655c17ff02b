/* SPDX-License-Identifier: MIT */
/* Whether the time stamp counter is the same on all processors. */
#ifndef FTR_ARCH_X86_64_TICKS_H
#define FTR_ARCH_X86_64_TICKS_H

#include <stdbool.h>
#include <stdint.h>

bool ftr_arch_ticks_agree_x86_64(void);		/* of struct ftr_arch */

/*
 * ... where the kernel's clock source is @source, as a line, and pages with the clocks of
 * hypervisors are from @clocks on (nullable; nor need the pages be there).
 */
bool ftr_arch_ticks_are_alike(const char *source, const uint8_t *clocks);

#endif /* FTR_ARCH_X86_64_TICKS_H */
