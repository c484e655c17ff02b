/* SPDX-License-Identifier: MIT */
/* How the instrumented code reaches the hook on 64-bit Arm (AAPCS64, compilers' conventions). */

#include "arch/aarch64/saved.h"

/* x30, without its signature */
#define STUBS_COLUMN 30
#define STUBS_SP OP_BREG31
#define STUBS_SLOT 0x78		/* -8 */
#define STUBS_RA OP_BREG30, 0, OP_CONST1U, 16, OP_SHL, OP_CONST1U, 16, OP_SHR
#define STUBS_MORE 6
#include "arch/return_stubs.h"

	.text

/*
 * -pg: an ordinary call behind the prologue.
 *
 *	8(x29)	return address of the traced function
 *	x30	our return address, inside the traced function
 */
	.globl	ftr_mcount		/* ours, whoever else has a _mcount */
	.hidden	ftr_mcount
	.set	ftr_mcount, _mcount
FUNCTION _mcount
	mov	x0, x29
	mov	x1, x30
	b	ftr_prologue_enter
END _mcount

/*
 * What patched entries call, before anything else (arch/aarch64/patch.h).
 *
 *	x16	return address of the traced function
 *	x30	our return address
 */
	.hidden	ftr_fentry
FUNCTION ftr_fentry
	SAVE_REGISTERS
	str	x30, [sp, #SAVED_BACK]
	SAVE_RETURN x16
	add	x0, sp, #SAVED_LOC
	mov	x1, x30
	mov	x2, sp
	mov	x3, xzr
	bl	ftr_enter_fentry
	ldr	x17, [sp, #SAVED_BACK]
	RESTORE_RETURN
	RESTORE_REGISTERS
	ret	x17
END ftr_fentry

/* Where traced functions return to (arch/return_stubs.h). */
	.hidden	ftr_return_stubs
	.globl	ftr_return_stubs
	.type	ftr_return_stubs, %function
	.p2align 15
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa sp, 0
	RETURN_STUBS_CFI
ftr_return_stubs:
	.quad	ftr_unwind_slots - ftr_return_stubs
	.rept	STUBS - 1
	hint	#38			/* bti jc */
	b	ftr_return_common
	.endr
	.cfi_endproc
	.size	ftr_return_stubs, . - ftr_return_stubs

/*
 * x30 is the stub.  ftr_leave gets the address of the word that names the call, with the stub in
 * it, and answers with the true return address.
 */
	.type	ftr_return_common, %function
	.p2align 5
ftr_return_common:
	.cfi_startproc
	.cfi_undefined x30
	SAVE_REGISTERS
	str	x30, [sp, #SAVED_LOC]
	add	x0, sp, #SAVED_LOC
	mov	x1, sp
	bl	ftr_leave
	mov	x30, x0
	RESTORE_REGISTERS
	ret
	.cfi_endproc
	.size	ftr_return_common, . - ftr_return_common

	NOTES
