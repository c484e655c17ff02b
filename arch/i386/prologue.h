/* SPDX-License-Identifier: MIT */
/* Where a function that called mcount keeps its return address. */
#ifndef FTR_ARCH_I386_PROLOGUE_H
#define FTR_ARCH_I386_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * gcc realigns the stack of main, and of functions with over-aligned locals, like this, in %ecx
 * (or %eax, %edx, %edi):
 *
 *	lea    4(%esp), %ecx		the argument area
 *	and    $-16, %esp
 *	push   -4(%ecx)			a copy of the return address		ff 71 fc
 *	push   %ebp							55
 *	mov    %esp, %ebp						89 e5
 *	push   %esi, %ebx ...		and others between, as the scheduler likes
 *	push   %ecx			kept behind those
 *
 * The copy at 4(%ebp) is never returned through: the true slot is the one below %ecx.
 */
#define FTR_PROLOGUE_WINDOW 96		/* bytes before the mcount call that hold the prologue */
#define FTR_PROLOGUE_KEPT_MAX 4		/* words that may be pushed, %ecx among them */

static inline bool ftr_arch_prologue_realigns(const uint8_t *call)
{
	const uint8_t *p;

	for (p = call - FTR_PROLOGUE_WINDOW; p < call - 6; p++) {
		if (p[0] == 0xff && (p[1] & 0xf8) == 0x70 && p[2] == 0xfc && p[3] == 0x55 &&
		    p[4] == 0x89 && p[5] == 0xe5)
			return true;
	}
	return false;
}

/* Could @kept be what points behind the return address that is copied to *@slot? */
static inline bool ftr_arch_may_be_kept(const uintptr_t *slot, uintptr_t kept)
{
	uintptr_t above = kept - (uintptr_t)(slot + 1);

	return __builtin_expect(above - 4 <= 4096 && kept % sizeof(uintptr_t) == 0, 0) &&
	       ((const uintptr_t *)kept)[-1] == *slot;
}

/*
 * The slot the function will return through, given 4(%ebp) and our return address.  In nearly
 * every call no word that may be kept points a little above the frame.
 */
static inline uintptr_t *ftr_arch_return_slot(uintptr_t *slot, uintptr_t child_ip)
{
	unsigned nr;

	for (nr = 1; nr <= FTR_PROLOGUE_KEPT_MAX; nr++) {
		uintptr_t kept = *(slot - 1 - nr);

		if (ftr_arch_may_be_kept(slot, kept) &&
		    ftr_arch_prologue_realigns((const uint8_t *)child_ip))
			return (uintptr_t *)kept - 1;
	}
	return slot;
}

/*
 * With -mfentry, gcc keeps the static chain of a nested function on the stack around the call:
 *
 *	push   %ecx			51
 *	endbr32				f3 0f 1e fb, with -fcf-protection
 *	call   __fentry__		e8 ....  or  ff 15 ....
 *	pop    %ecx
 *
 * so the return slot is one higher.  @chain is %ecx at the call; few calls get past the comparison.
 */
static inline bool ftr_arch_fentry_pushed(const uintptr_t *slot, uintptr_t child_ip,
					  uintptr_t chain)
{
	const uint8_t *p = (const uint8_t *)child_ip;

	if (__builtin_expect(*slot != chain, 1))
		return false;
	p -= p[-6] == 0xff && p[-5] == 0x15 ? 6 : 5;
	if (p[-4] == 0xf3 && p[-3] == 0x0f && p[-2] == 0x1e && p[-1] == 0xfb)
		p -= 4;
	return p[-1] == 0x51;
}

/* Asked where a call and the first one of another stack may have one name: never here. */
static inline bool ftr_arch_is_call(uintptr_t ret)
{
	return true;
}

#endif /* FTR_ARCH_I386_PROLOGUE_H */
