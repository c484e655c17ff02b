/* SPDX-License-Identifier: MIT */
/* System call numbers of 64-bit Arm Linux, and none of 32-bit programs. */
#include "arch/syscalls.h"

#include <linux/audit.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct ftr_sysnr numbers[] = {
	{ 23, FTR_SYSID_DUP },
	{ 24, FTR_SYSID_DUP3 },
	{ 25, FTR_SYSID_FCNTL },
	{ 36, FTR_SYSID_SYMLINKAT },
	{ 37, FTR_SYSID_LINKAT },
	{ 38, FTR_SYSID_RENAMEAT },
	{ 39, FTR_SYSID_UMOUNT2 },
	{ 40, FTR_SYSID_MOUNT },
	{ 56, FTR_SYSID_OPENAT },
	{ 57, FTR_SYSID_CLOSE },
	{ 59, FTR_SYSID_PIPE2 },
	{ 64, FTR_SYSID_WRITE },
	{ 66, FTR_SYSID_WRITE },
	{ 68, FTR_SYSID_WRITE },
	{ 167, FTR_SYSID_PRCTL },
	{ 220, FTR_SYSID_CLONE },
	{ 221, FTR_SYSID_EXECVE },
	{ 276, FTR_SYSID_RENAMEAT2 },
	{ 281, FTR_SYSID_EXECVEAT },
	{ 435, FTR_SYSID_CLONE3 },
	{ 436, FTR_SYSID_CLOSE_RANGE },
	{ 437, FTR_SYSID_OPENAT2 },
};

extern const struct ftr_abi ftr_abis_aarch64[];
const struct ftr_abi ftr_abis_aarch64[] = {
	{ .name = "aarch64", .audit_arch = AUDIT_ARCH_AARCH64, .word_bytes = 8,
	  .arg0_is_result = true,
	  .numbers = numbers, .numbers_nr = ROWS(numbers) },
	{ 0 }
};
