/* SPDX-License-Identifier: MIT */
/* Where this code is and what calls preserve: from there an unwinder goes on (x86-64). */
#ifndef FTR_ARCH_X86_64_STACK_REGS_H
#define FTR_ARCH_X86_64_STACK_REGS_H

#include <stdint.h>

#include "utils/proto/stack_part.h"

static_assert(FTR_STACK_IP == 0 && FTR_STACK_SP == 1 && FTR_STACK_BX == 2 && FTR_STACK_BP == 3 &&
	      FTR_STACK_R12 == 4 && FTR_STACK_R15 == 7, "the places below");

/* All at one instruction, whose call frame information is about just these values. */
static inline __attribute__((always_inline)) void
ftr_arch_stack_regs(uint64_t regs[FTR_STACK_REGS])
{
	uint64_t ip;

	__asm__ volatile("leaq 0f(%%rip), %0\n"
			 "0:\tmovq %0, (%1)\n\t"
			 "movq %%rsp, 8(%1)\n\t"
			 "movq %%rbx, 16(%1)\n\t"
			 "movq %%rbp, 24(%1)\n\t"
			 "movq %%r12, 32(%1)\n\t"
			 "movq %%r13, 40(%1)\n\t"
			 "movq %%r14, 48(%1)\n\t"
			 "movq %%r15, 56(%1)"
			 : "=&a"(ip)
			 : "d"(regs)
			 : "memory");
}

/*
 * What the kernel keeps of an interrupted thread on the stack of its handler (struct ucontext): its
 * stack pointer is so far behind the words that say which stack that is (struct sigaltstack).
 */
#define FTR_ARCH_INTERRUPTED_SP 144u
#define FTR_ARCH_SIGALTSTACK_SIZE 16u	/* ... and ss_size behind ss_sp */

#endif /* FTR_ARCH_X86_64_STACK_REGS_H */
