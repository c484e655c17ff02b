/* SPDX-License-Identifier: MIT */
/* The registers of a call as the trampolines saved them: its value, when it returns. */
#ifndef FTR_ARCH_I386_REGS_H
#define FTR_ARCH_I386_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/i386/saved.h"

/*
 * At a return the value is eax, edx.  Arguments are on the stack.  The hook does not touch vector
 * registers and the x87 stack: they are live, as the program left them, until it returns.
 */
struct ftr_regs {
	uint64_t eax, edx, ecx;		/* the upper halves are 0 */
};
static_assert(offsetof(struct ftr_regs, eax) == SAVED_EAX, "arch/i386/saved.h");
static_assert(offsetof(struct ftr_regs, edx) == SAVED_EDX, "arch/i386/saved.h");
static_assert(offsetof(struct ftr_regs, ecx) == SAVED_ECX, "arch/i386/saved.h");
static_assert(sizeof(struct ftr_regs) == SAVED_BYTES, "arch/i386/saved.h");

/* Registers that the trampolines do not save and the hook leaves alone: none here. */
struct ftr_spared {
	char none;
};

static inline struct ftr_spared ftr_arch_spare(void)
{
	return (struct ftr_spared){ 0 };
}

static inline void ftr_arch_give_back(const struct ftr_spared *spared)
{
}

#endif /* FTR_ARCH_I386_REGS_H */
