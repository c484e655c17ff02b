/* SPDX-License-Identifier: MIT */
/*
 * The system calls that the observer follows, and their numbers in each calling convention of a
 * machine.
 */
#ifndef FTR_ARCH_SYSCALLS_H
#define FTR_ARCH_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftr_sysid {
	FTR_SYSID_NONE,
	FTR_SYSID_EXECVE,
	FTR_SYSID_EXECVEAT,
	FTR_SYSID_CLONE,
	FTR_SYSID_CLONE3,
	FTR_SYSID_OPEN,
	FTR_SYSID_OPENAT,
	FTR_SYSID_OPENAT2,
	FTR_SYSID_CREAT,
	FTR_SYSID_PIPE,
	FTR_SYSID_PIPE2,
	FTR_SYSID_RENAME,
	FTR_SYSID_RENAMEAT,
	FTR_SYSID_RENAMEAT2,
	FTR_SYSID_LINK,
	FTR_SYSID_LINKAT,
	FTR_SYSID_SYMLINK,
	FTR_SYSID_SYMLINKAT,
	FTR_SYSID_CLOSE,
	FTR_SYSID_CLOSE_RANGE,
	FTR_SYSID_DUP,
	FTR_SYSID_DUP2,
	FTR_SYSID_DUP3,
	FTR_SYSID_FCNTL,
	FTR_SYSID_MOUNT,
	FTR_SYSID_UMOUNT,	/* without flags */
	FTR_SYSID_UMOUNT2,
	FTR_SYSID_PRCTL,
	FTR_SYSID_WRITE,	/* and its kin: only while a process has a comm file open */
	FTR_SYSID_FORK,		/* these have no numbers: ptrace reports them as events */
	FTR_SYSID_VFORK,
	FTR_SYSID_EXIT,
	FTR_SYSIDS
};

struct ftr_sysnr {
	uint32_t nr;
	uint8_t  id;		/* enum ftr_sysid */
};

/* One way to call the kernel. */
struct ftr_abi {
	const char *name;
	uint32_t audit_arch; /* AUDIT_ARCH_* as seccomp sees it; several ABIs may share it */
	uint8_t  word_bytes;		/* of a pointer or long in the caller's memory */
	uint16_t arg0_offset;		/* of the first argument in struct user */
	bool     arg0_is_result;	/* its register has the result after the call */
	const struct ftr_sysnr *numbers;
	size_t   numbers_nr;
};

/* Of the host (ftr_arch_host->abis), up to the one without a name. */
extern const struct ftr_abi *const ftr_abis;

#endif /* FTR_ARCH_SYSCALLS_H */
