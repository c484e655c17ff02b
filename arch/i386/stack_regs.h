/* SPDX-License-Identifier: MIT */
/*
 * Where this code is (i386).  The recorder has no unwinder for it, and asks for no stacks: what
 * calls preserve is not told.
 */
#ifndef FTR_ARCH_I386_STACK_REGS_H
#define FTR_ARCH_I386_STACK_REGS_H

#include <stdint.h>

#include "utils/proto/stack_part.h"

static inline __attribute__((always_inline)) void
ftr_arch_stack_regs(uint64_t regs[FTR_STACK_REGS])
{
	uint32_t ip, sp;
	unsigned i;

	__asm__ volatile("call 0f\n0:\tpopl %0\n\tmovl %%esp, %1" : "=r"(ip), "=r"(sp));
	for (i = 0; i < FTR_STACK_REGS; i++)
		regs[i] = i == FTR_STACK_IP ? ip : i == FTR_STACK_SP ? sp : 0;
}

/*
 * See arch/x86_64/stack_regs.h: uc_mcontext.esp behind uc_stack.  A handler that has no siginfo
 * gets another layout, in which the walk finds nothing.
 */
#define FTR_ARCH_INTERRUPTED_SP 40u
#define FTR_ARCH_SIGALTSTACK_SIZE 8u

#endif /* FTR_ARCH_I386_STACK_REGS_H */
