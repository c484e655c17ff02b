/* SPDX-License-Identifier: MIT */
/* System call numbers of 64-bit Arm Linux: none yet, none is observed. */
#include "arch/syscalls.h"

extern const struct ftr_abi ftr_abis_aarch64[];
const struct ftr_abi ftr_abis_aarch64[] = { { 0 } };
