/* SPDX-License-Identifier: MIT */
/* The registers of a call as the trampolines saved them: its arguments, or its value. */
#ifndef FTR_ARCH_X86_64_REGS_H
#define FTR_ARCH_X86_64_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/saved.h"

/*
 * At an entry: the integer arguments are rdi, rsi, rdx, rcx, r8, r9, the number of vector arguments
 * al; at a return: the value is rax, rdx.  The hook does not touch vector registers and the x87
 * stack: they are live, as the program left them, until it returns.
 */
struct ftr_regs {
	uint64_t rax, rcx, rdx, rsi, rdi, r8, r9;
};
static_assert(offsetof(struct ftr_regs, rax) == SAVED_RAX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rcx) == SAVED_RCX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rdx) == SAVED_RDX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rsi) == SAVED_RSI, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rdi) == SAVED_RDI, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r8) == SAVED_R8, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r9) == SAVED_R9, "arch/x86_64/saved.h");
static_assert(sizeof(struct ftr_regs) == SAVED_R10, "arch/x86_64/saved.h");

/*
 * Registers that the trampolines do not save and the common way of the hook leaves alone: what goes
 * another way begins with ftr_arch_spare() and ends with ftr_arch_give_back().
 */
struct ftr_spared {
	uint64_t r10, r11;
};

static inline struct ftr_spared ftr_arch_spare(void)
{
	struct ftr_spared spared;

#ifdef FTR_SPARES_REGISTERS
	__asm__ volatile("movq %%r10, %0\n\tmovq %%r11, %1" : "=m"(spared.r10), "=m"(spared.r11));
#else
	spared = (struct ftr_spared){ 0 };
#endif
	return spared;
}

static inline void ftr_arch_give_back(const struct ftr_spared *spared)
{
#ifdef FTR_SPARES_REGISTERS
	__asm__ volatile("movq %0, %%r10\n\tmovq %1, %%r11" : : "m"(spared->r10), "m"(spared->r11));
#endif
}

#endif /* FTR_ARCH_X86_64_REGS_H */
