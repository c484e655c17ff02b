/* SPDX-License-Identifier: MIT */
/* Whether the counter is the same on all processors. */
#include "arch/aarch64/ticks.h"

/*
 * By definition: each counts what the one counter of the system counts (Arm Architecture Reference
 * Manual for A-profile, "The Generic Timer").  Where a processor reads it wrong, the kernel reads
 * it for the program.
 */
bool ftr_arch_ticks_agree_aarch64(void)
{
	return true;
}
