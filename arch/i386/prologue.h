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

/*
 * gcc pushes arguments, behind what it takes for them to end at a multiple of 16 bytes, and takes
 * all that off behind the call.  So what names a call is lower than what names one of the same
 * function without arguments.  clang has the room in its frame, and stores there.
 */
#define FTR_PUSHED_BYTES 16u

/* Is the last thing before @end a push, of a register, a constant or a local variable? */
static inline bool ftr_arch_is_pushed(const uint8_t *end)
{
	return (end[-1] & 0xf8) == 0x50 ||				/* %reg */
	       end[-2] == 0x6a || end[-5] == 0x68 ||			/* $imm8, $imm32 */
	       (end[-3] == 0xff && end[-2] == 0x75) ||			/* disp8(%ebp) */
	       (end[-6] == 0xff && end[-5] == 0xb5) ||			/* disp32(%ebp) */
	       (end[-4] == 0xff && end[-3] == 0x74 && end[-2] == 0x24);	/* disp8(%esp) */
}

/*
 * Above all calls that the function makes that called with @slot, to return to @ret, and not above
 * its own, as far as its code tells: else @slot.
 */
static inline const uintptr_t *ftr_arch_caller_sp(const uintptr_t *slot, uintptr_t ret)
{
	const uint8_t *call = (const uint8_t *)ret;

	if (call[-5] == 0xe8)						/* call rel32 */
		call -= 5;
	else if (call[-6] == 0xff && (call[-5] & 0xf8) == 0x90)		/* *disp32(%reg) */
		call -= 6;
	else
		return slot;
	return ftr_arch_is_pushed(call) ? slot + 1 + FTR_PUSHED_BYTES / sizeof(*slot) : slot;
}

/*
 * What names a call of an instrumented function, which has called us with two arguments up to @cfa:
 * it has to be above all that the function calls.  Where it is clang's, and nothing is in its
 * frame, its own return address, @site, is right behind that.
 */
static inline uintptr_t *ftr_arch_cygprof_loc(uintptr_t *cfa, uintptr_t site)
{
	return cfa[3] == site ? cfa + 2 : cfa + FTR_PUSHED_BYTES / sizeof(*cfa);
}

#endif /* FTR_ARCH_I386_PROLOGUE_H */
