/* SPDX-License-Identifier: MIT */
/*
 * Where this code is (64-bit Arm).  The recorder asks for no stacks of calls (task_regs.h): what
 * calls preserve is not told.
 */
#ifndef FTR_ARCH_AARCH64_STACK_REGS_H
#define FTR_ARCH_AARCH64_STACK_REGS_H

#include <stdint.h>

#include "utils/proto/stack_part.h"

static inline __attribute__((always_inline)) void
ftr_arch_stack_regs(uint64_t regs[FTR_STACK_REGS])
{
	uint64_t ip, sp;
	unsigned i;

	__asm__ volatile("adr %0, .\n\tmov %1, sp" : "=r"(ip), "=r"(sp));
	for (i = 0; i < FTR_STACK_REGS; i++)
		regs[i] = i == FTR_STACK_IP ? ip : i == FTR_STACK_SP ? sp : 0;
}

/* See arch/x86_64/stack_regs.h. */
#define FTR_ARCH_INTERRUPTED_SP 416u
#define FTR_ARCH_SIGALTSTACK_SIZE 16u

#endif /* FTR_ARCH_AARCH64_STACK_REGS_H */
