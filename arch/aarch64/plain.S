/* SPDX-License-Identifier: MIT */
/*
 * Where the heads of moved instructions call (arch/aarch64/plain.h).
 *
 *	8(sp)	return address of the traced function
 *	0(sp)	its x17
 *	x30	our return address, behind a head's call
 *
 * Nothing says that this code is called as compilers call: it may be assembly, or local, with
 * values in any register and in the flags.
 */
#include "arch/aarch64/called.h"
#include "arch/aarch64/saved.h"

#define SAVED_FLAGS 136
#define SAVED_X16 144

	.text
	.hidden	ftr_plain_entry
FUNCTION ftr_plain_entry
	CALLED_BY_FUNCTION
	SAVE_REGISTERS
	str	x30, [sp, #SAVED_BACK]
	CALLED_AS_SAVED SAVED_BYTES + FTR_ARCH_PLAIN_PUSHED - SAVED_BACK
	str	x16, [sp, #SAVED_X16]
	mrs	x0, nzcv
	str	x0, [sp, #SAVED_FLAGS]
	add	x0, sp, #SAVED_BYTES + 8
	sub	x1, x30, #FTR_ARCH_PLAIN_CODE
	ldursw	x2, [x1, #-4]
	add	x1, x1, x2
	mov	x2, sp
	mov	x3, xzr
	bl	ftr_enter_fentry
	ldr	x0, [sp, #SAVED_FLAGS]
	msr	nzcv, x0
	ldr	x16, [sp, #SAVED_X16]
	ldr	x30, [sp, #SAVED_BACK]
	RESTORE_REGISTERS
	ret
END ftr_plain_entry

	NOTES
