/* SPDX-License-Identifier: MIT */
/* See arch/x86_64/task_regs.h (64-bit Arm). */
#ifndef FTR_ARCH_AARCH64_TASK_REGS_H
#define FTR_ARCH_AARCH64_TASK_REGS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "utils/proto/stack_part.h"

#define FTR_ARCH_REG_SP 31
#define FTR_ARCH_REG_PC 32

#define FTR_ARCH_COPIES_STACKS 0	/* stack_regs.h does not tell what calls preserve */

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t ftr_arch_comeback[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

/* A task of 32 bits has fewer. */
static inline bool ftr_arch_task_regs(pid_t tid, struct user_regs_struct *regs)
{
	struct iovec part = { regs, sizeof(*regs) };

	return ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &part) == 0 &&
	       part.iov_len == sizeof(*regs);
}

static inline uint64_t ftr_arch_task_sp(const struct user_regs_struct *regs)
{
	return regs->sp;
}

static inline const unsigned long long *ftr_arch_task_reg(const struct user_regs_struct *regs,
							   int reg)
{
	if (reg >= 0 && reg < FTR_ARCH_REG_SP)
		return &regs->regs[reg];
	if (reg == FTR_ARCH_REG_SP)
		return &regs->sp;
	return reg == FTR_ARCH_REG_PC ? &regs->pc : NULL;
}

/* bl, or blr */
static inline bool ftr_arch_ends_with_call(const uint8_t code[8])
{
	uint32_t last = code[4] | (uint32_t)code[5] << 8 | (uint32_t)code[6] << 16 |
			(uint32_t)code[7] << 24;

	return (last & 0xfc000000u) == 0x94000000u || (last & 0xfffffc1fu) == 0xd63f0000u;
}

/* mov x8, #__NR_exit; svc #0 */
static inline bool ftr_arch_is_threads_end(const uint8_t code[16])
{
	static const uint8_t end[] = { 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

	return memcmp(code, end, sizeof(end)) == 0;
}

static inline void ftr_arch_copied_regs(struct user_regs_struct *regs,
					const struct ftr_stack_head *head)
{
	regs->pc = head->regs[FTR_STACK_IP];
	regs->sp = head->regs[FTR_STACK_SP];
}

#endif /* FTR_ARCH_AARCH64_TASK_REGS_H */
