/* SPDX-License-Identifier: MIT */
/*
 * Where the heads of events in the midst of functions call (utils/proto/sdt.h).  As plain.S has it,
 * but for all registers being kept, for the operands of the event.
 */
#include "arch/aarch64/called.h"
#include "arch/aarch64/saved.h"

#define SITE_FLAGS	256
#define SITE_BACK	264
#define SITE_BYTES	272
#define EACH_PAIR(what) \
	what 0, 1; what 2, 3; what 4, 5; what 6, 7; what 8, 9; what 10, 11; what 12, 13; \
	what 14, 15; what 18, 19; what 20, 21; what 22, 23; what 24, 25; what 26, 27; what 28, 29

.macro SAVE first, second
	stp	x\first, x\second, [sp, #8 * \first]
.endm

.macro RESTORE first, second
	ldp	x\first, x\second, [sp, #8 * \first]
.endm

	.text
	.hidden	ftr_site_entry
FUNCTION ftr_site_entry
	CALLED_BY_FUNCTION
	sub	sp, sp, #SITE_BYTES
	.cfi_adjust_cfa_offset SITE_BYTES
	EACH_PAIR(SAVE)
	str	x30, [sp, #SITE_BACK]
	CALLED_AS_SAVED SITE_BYTES + FTR_ARCH_PLAIN_PUSHED - SITE_BACK
	mrs	x0, nzcv
	str	x0, [sp, #SITE_FLAGS]
	ldp	x0, x2, [sp, #SITE_BYTES]
	stp	x16, x0, [sp, #8 * 16]
	add	x0, sp, #SITE_BYTES + FTR_ARCH_PLAIN_PUSHED
	stp	x2, x0, [sp, #8 * 30]
	mov	x0, sp
	add	x1, x30, #FTR_ARCH_PLAIN_BEHIND
	bl	ftr_site_hit
	ldr	x0, [sp, #SITE_FLAGS]
	msr	nzcv, x0
	ldr	x16, [sp, #8 * 16]
	ldr	x30, [sp, #SITE_BACK]
	EACH_PAIR(RESTORE)
	add	sp, sp, #SITE_BYTES
	.cfi_adjust_cfa_offset -SITE_BYTES
	ret
END ftr_site_entry

	NOTES
