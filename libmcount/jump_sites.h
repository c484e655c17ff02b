/* SPDX-License-Identifier: MIT */
/*
 * Which setjmp a longjmp returns from: what identifies it is the address it returned to, which its
 * jmp_buf holds.
 */
#ifndef FTR_LIBMCOUNT_JUMP_SITES_H
#define FTR_LIBMCOUNT_JUMP_SITES_H

#include "libmcount/hook.h"

/* A call of setjmp, recorded as @addr, is about to return to @ip. */
void ftr_jump_site_note(uintptr_t ip, uintptr_t addr) FTR_HIDDEN;

/* The address recorded for the setjmp that returned to @ip; 0 = it is not recorded. */
uintptr_t ftr_jump_site_find(uintptr_t ip) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_JUMP_SITES_H */
