/* SPDX-License-Identifier: MIT */
/* The registers of a call as the trampolines saved them: its arguments, or its value. */
#ifndef FTR_ARCH_X86_64_REGS_H
#define FTR_ARCH_X86_64_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/saved.h"

/*
 * At an entry: the integer arguments are rdi, rsi, rdx, rcx, r8, r9, a static chain r10, the number
 * of vector arguments al; at a return: the value is rax, rdx.  The hook does not touch vector
 * registers and the x87 stack: they are live, as the program left them, until it returns.
 */
struct ftr_regs {
	uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11;
};
static_assert(offsetof(struct ftr_regs, rax) == SAVED_RAX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rcx) == SAVED_RCX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rdx) == SAVED_RDX, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rsi) == SAVED_RSI, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, rdi) == SAVED_RDI, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r8) == SAVED_R8, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r9) == SAVED_R9, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r10) == SAVED_R10, "arch/x86_64/saved.h");
static_assert(offsetof(struct ftr_regs, r11) == SAVED_R11, "arch/x86_64/saved.h");
static_assert(sizeof(struct ftr_regs) == SAVED_BYTES, "arch/x86_64/saved.h");

/* The static chain of a nested function (arch/prologue.h). */
static inline uintptr_t ftr_arch_chain(const struct ftr_regs *regs)
{
	return regs->r10;
}

#endif /* FTR_ARCH_X86_64_REGS_H */
