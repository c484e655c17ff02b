/* SPDX-License-Identifier: MIT */
/* Where a function that called mcount keeps its return address. */
#ifndef FTR_ARCH_X86_64_PROLOGUE_H
#define FTR_ARCH_X86_64_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * gcc realigns the stack of a function with over-aligned locals like this, in %r10 (or %r13):
 *
 *	lea    8(%rsp), %r10		the argument area
 *	and    $-32, %rsp
 *	push   -8(%r10)			a copy of the return address	41 ff 72 f8 (41 ff 75 f8)
 *	push   %rbp						55
 *	mov    %rsp, %rbp					48 89 e5
 *	...
 *	push   %r10			kept at -8(%rbp)
 *
 * The copy at 8(%rbp) is never returned through: the true slot is the one below %r10.
 */
#define FTR_PROLOGUE_WINDOW 64		/* bytes before the mcount call that hold the prologue */

static inline bool ftr_arch_prologue_realigns(const uint8_t *call)
{
	const uint8_t *p;

	for (p = call - FTR_PROLOGUE_WINDOW; p < call - 8; p++) {
		if (p[0] == 0x41 && p[1] == 0xff && (p[2] == 0x72 || p[2] == 0x75) &&
		    p[3] == 0xf8 && p[4] == 0x55 && p[5] == 0x48 && p[6] == 0x89 && p[7] == 0xe5)
			return true;
	}
	return false;
}

/*
 * The slot the function will return through, given 8(%rbp) and our return address.  In nearly
 * every call the first test decides: a realigned frame's %rbp is 16 below a multiple of 32 and the
 * kept %r10 points a little above it, at the byte behind an equal return address.
 */
static inline uintptr_t *ftr_arch_return_slot(uintptr_t *slot, uintptr_t child_ip)
{
	uintptr_t kept = slot[-2];	/* -8(%rbp) */
	uintptr_t above = kept - (uintptr_t)(slot + 1);
	uintptr_t *candidate = (uintptr_t *)(kept - sizeof(uintptr_t));

	if (__builtin_expect(above - 8 > 4096 || kept % sizeof(uintptr_t) != 0, 1))
		return slot;
	if (*candidate != *slot || !ftr_arch_prologue_realigns((const uint8_t *)child_ip))
		return slot;
	return candidate;
}

/*
 * With -mfentry, gcc keeps the static chain of a nested function on the stack around the call:
 *
 *	push   %r10			41 52
 *	endbr64				f3 0f 1e fa, with -fcf-protection
 *	call   __fentry__		e8 ....  or  ff 15 ....
 *	pop    %r10
 *
 * so the return slot is one higher.  @chain is %r10 at the call; few calls get past the comparison.
 */
static inline bool ftr_arch_fentry_pushed(const uintptr_t *slot, uintptr_t child_ip,
					  uintptr_t chain)
{
	const uint8_t *p = (const uint8_t *)child_ip;

	if (__builtin_expect(*slot != chain, 1))
		return false;
	p -= p[-6] == 0xff && p[-5] == 0x15 ? 6 : 5;
	if (p[-4] == 0xf3 && p[-3] == 0x0f && p[-2] == 0x1e && p[-1] == 0xfa)
		p -= 4;
	return p[-2] == 0x41 && p[-1] == 0x52;
}

/* Asked where a call and the first one of another stack may have one name: never here. */
static inline bool ftr_arch_is_call(uintptr_t ret)
{
	return true;
}

/* Calls' arguments are in registers, or in room that stays: nothing moves the stack pointer. */
static inline const uintptr_t *ftr_arch_caller_sp(const uintptr_t *slot, uintptr_t ret)
{
	return slot;
}

static inline uintptr_t *ftr_arch_cygprof_loc(uintptr_t *cfa, uintptr_t site)
{
	return cfa;
}

#endif /* FTR_ARCH_X86_64_PROLOGUE_H */
