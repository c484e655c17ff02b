/* SPDX-License-Identifier: MIT */
/* System call numbers of x86-64 Linux: native, 32-bit programs, x32. */
#include "arch/syscalls.h"

#include <assert.h>
#include <linux/audit.h>
#include <sys/user.h>

#define X32 0x40000000u
#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* What the native ABI and x32 have in common. */
#define COMMON(flag) \
	{ flag | 1, FTR_SYSID_WRITE }, \
	{ flag | 2, FTR_SYSID_OPEN }, \
	{ flag | 3, FTR_SYSID_CLOSE }, \
	{ flag | 18, FTR_SYSID_WRITE }, \
	{ flag | 22, FTR_SYSID_PIPE }, \
	{ flag | 32, FTR_SYSID_DUP }, \
	{ flag | 33, FTR_SYSID_DUP2 }, \
	{ flag | 56, FTR_SYSID_CLONE }, \
	{ flag | 72, FTR_SYSID_FCNTL }, \
	{ flag | 82, FTR_SYSID_RENAME }, \
	{ flag | 85, FTR_SYSID_CREAT }, \
	{ flag | 86, FTR_SYSID_LINK }, \
	{ flag | 88, FTR_SYSID_SYMLINK }, \
	{ flag | 157, FTR_SYSID_PRCTL }, \
	{ flag | 165, FTR_SYSID_MOUNT }, \
	{ flag | 166, FTR_SYSID_UMOUNT2 }, \
	{ flag | 257, FTR_SYSID_OPENAT }, \
	{ flag | 264, FTR_SYSID_RENAMEAT }, \
	{ flag | 265, FTR_SYSID_LINKAT }, \
	{ flag | 266, FTR_SYSID_SYMLINKAT }, \
	{ flag | 292, FTR_SYSID_DUP3 }, \
	{ flag | 293, FTR_SYSID_PIPE2 }, \
	{ flag | 316, FTR_SYSID_RENAMEAT2 }, \
	{ flag | 435, FTR_SYSID_CLONE3 }, \
	{ flag | 436, FTR_SYSID_CLOSE_RANGE }, \
	{ flag | 437, FTR_SYSID_OPENAT2 }

static const struct ftr_sysnr x86_64_numbers[] = {
	COMMON(0u),
	{ 20, FTR_SYSID_WRITE },
	{ 59, FTR_SYSID_EXECVE },
	{ 322, FTR_SYSID_EXECVEAT },
};

static const struct ftr_sysnr x32_numbers[] = {
	COMMON(X32),
	{ X32 | 516, FTR_SYSID_WRITE },
	{ X32 | 520, FTR_SYSID_EXECVE },
	{ X32 | 545, FTR_SYSID_EXECVEAT },
};

static const struct ftr_sysnr i386_numbers[] = {
	{ 4, FTR_SYSID_WRITE },
	{ 5, FTR_SYSID_OPEN },
	{ 6, FTR_SYSID_CLOSE },
	{ 8, FTR_SYSID_CREAT },
	{ 9, FTR_SYSID_LINK },
	{ 11, FTR_SYSID_EXECVE },
	{ 21, FTR_SYSID_MOUNT },
	{ 22, FTR_SYSID_UMOUNT },
	{ 38, FTR_SYSID_RENAME },
	{ 41, FTR_SYSID_DUP },
	{ 42, FTR_SYSID_PIPE },
	{ 52, FTR_SYSID_UMOUNT2 },
	{ 55, FTR_SYSID_FCNTL },
	{ 63, FTR_SYSID_DUP2 },
	{ 83, FTR_SYSID_SYMLINK },
	{ 120, FTR_SYSID_CLONE },
	{ 146, FTR_SYSID_WRITE },
	{ 172, FTR_SYSID_PRCTL },
	{ 181, FTR_SYSID_WRITE },
	{ 221, FTR_SYSID_FCNTL },
	{ 295, FTR_SYSID_OPENAT },
	{ 302, FTR_SYSID_RENAMEAT },
	{ 303, FTR_SYSID_LINKAT },
	{ 304, FTR_SYSID_SYMLINKAT },
	{ 330, FTR_SYSID_DUP3 },
	{ 331, FTR_SYSID_PIPE2 },
	{ 353, FTR_SYSID_RENAMEAT2 },
	{ 358, FTR_SYSID_EXECVEAT },
	{ 435, FTR_SYSID_CLONE3 },
	{ 436, FTR_SYSID_CLOSE_RANGE },
	{ 437, FTR_SYSID_OPENAT2 },
};

/* Of the first argument in x86-64's struct user; sys/user.h is that of the host. */
#define USER_RDI 112
#define USER_RBX 40
#if defined(__x86_64__)
static_assert(offsetof(struct user, regs.rdi) == USER_RDI, "struct user");
static_assert(offsetof(struct user, regs.rbx) == USER_RBX, "struct user");
#endif

extern const struct ftr_abi ftr_abis_x86_64[];
const struct ftr_abi ftr_abis_x86_64[] = {
	{ .name = "x86_64", .audit_arch = AUDIT_ARCH_X86_64, .word_bytes = 8,
	  .arg0_offset = USER_RDI,
	  .numbers = x86_64_numbers, .numbers_nr = ROWS(x86_64_numbers) },
	{ .name = "i386", .audit_arch = AUDIT_ARCH_I386, .word_bytes = 4,
	  .arg0_offset = USER_RBX,
	  .numbers = i386_numbers, .numbers_nr = ROWS(i386_numbers) },
	{ .name = "x32", .audit_arch = AUDIT_ARCH_X86_64, .word_bytes = 4,
	  .arg0_offset = USER_RDI,
	  .numbers = x32_numbers, .numbers_nr = ROWS(x32_numbers) },
	{ 0 }
};
