/* SPDX-License-Identifier: MIT */
/* The registers of a call as the trampolines saved them: its arguments, or its value. */
#ifndef FTR_ARCH_AARCH64_REGS_H
#define FTR_ARCH_AARCH64_REGS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/aarch64/saved.h"

/*
 * At an entry: the integer arguments are x0 to x7, x8 is where a value of many words goes; at a
 * return: the value is x0, x1.  The hook does not touch vector registers: they are live, as the
 * program left them, until it returns.
 */
struct ftr_regs {
	uint64_t x[9];
};
static_assert(offsetof(struct ftr_regs, x) == SAVED_X0, "arch/aarch64/saved.h");

/* The trampolines save all that the hook changes. */
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

#endif /* FTR_ARCH_AARCH64_REGS_H */
