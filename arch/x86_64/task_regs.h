/* SPDX-License-Identifier: MIT */
/*
 * The registers of a stopped task, and of a copied stack, by DWARF's numbers, which are libunwind's
 * (x86-64).
 */
#ifndef FTR_ARCH_X86_64_TASK_REGS_H
#define FTR_ARCH_X86_64_TASK_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

#include "utils/proto/stack_part.h"

#define FTR_ARCH_REG_PC 16

#define FTR_ARCH_COPIES_STACKS 1	/* stack_regs.h tells what calls preserve */

#define FTR_ARCH_CODE_SEGMENT_64 0x33	/* in cs: not a 32-bit task, which has other frames */

/* "mov $__NR_rt_sigreturn, %rax; syscall": what handlers return to. */
static const uint8_t ftr_arch_comeback[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* False: the task has ended, or has other registers. */
static inline bool ftr_arch_task_regs(pid_t tid, struct user_regs_struct *regs)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, regs) == 0 &&
	       regs->cs == FTR_ARCH_CODE_SEGMENT_64;
}

static inline uint64_t ftr_arch_task_sp(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

/* NULL: there is no such register. */
static inline const unsigned long long *ftr_arch_task_reg(const struct user_regs_struct *regs,
							   int reg)
{
	const unsigned long long *const places[] = {
		&regs->rax, &regs->rdx, &regs->rcx, &regs->rbx, &regs->rsi, &regs->rdi, &regs->rbp,
		&regs->rsp, &regs->r8, &regs->r9, &regs->r10, &regs->r11, &regs->r12, &regs->r13,
		&regs->r14, &regs->r15, &regs->rip,
	};

	return reg >= 0 && (size_t)reg < sizeof(places) / sizeof(places[0]) ? places[reg] : NULL;
}

/* Is what comes behind these 8 bytes returned to?  They end with a call. */
static inline bool ftr_arch_ends_with_call(const uint8_t code[8])
{
	size_t bytes;

	if (code[3] == 0xe8)		/* call rel32 */
		return true;
	for (bytes = 2; bytes <= 8; bytes++) {
		const uint8_t *at = code + 8 - bytes;

		if (at[0] == 0xff && (at[1] & 0x38) == 0x10)	/* call *..., with what follows */
			return true;
	}
	return false;
}

/*
 * Where a thread's first function returns to, in clone(): "mov %rax, %rdi; mov $__NR_exit, %eax;
 * syscall".
 */
static inline bool ftr_arch_is_threads_end(const uint8_t code[16])
{
	static const uint8_t end[] = { 0x48, 0x89, 0xc7, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05 };

	return memcmp(code, end, sizeof(end)) == 0;
}

static inline void ftr_arch_copied_regs(struct user_regs_struct *regs,
					const struct ftr_stack_head *head)
{
	regs->rip = head->regs[FTR_STACK_IP];
	regs->rsp = head->regs[FTR_STACK_SP];
	regs->rbx = head->regs[FTR_STACK_BX];
	regs->rbp = head->regs[FTR_STACK_BP];
	regs->r12 = head->regs[FTR_STACK_R12];
	regs->r13 = head->regs[FTR_STACK_R13];
	regs->r14 = head->regs[FTR_STACK_R14];
	regs->r15 = head->regs[FTR_STACK_R15];
}

#endif /* FTR_ARCH_X86_64_TASK_REGS_H */
