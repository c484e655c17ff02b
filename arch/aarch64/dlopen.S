/* SPDX-License-Identifier: MIT */
/*
 * dlopen and dlmopen.  libc searches by the module that called, which it knows from the return
 * address: where that matters, this is a jump to libc's function with everything else as it was.
 * Elsewhere libc's function returns to here.
 */
#include "arch/aarch64/saved.h"

	.text

/* ftr_dlopen_real(is_dlmopen, mode, file, ip): libc's function, and whether to call it. */
.macro PASS name, number, file, mode
FUNCTION \name
	SAVE_REGISTERS
	SAVE_RETURN x30
	mov	x2, \file
	mov	w1, \mode
	mov	w0, #\number
	mov	x3, x30
	bl	ftr_dlopen_real
	mov	x16, x0
	mov	x17, x1
	RESTORE_RETURN
	RESTORE_REGISTERS
	cbnz	w17, 1f
	br	x16
1:	sub	sp, sp, #32
	.cfi_adjust_cfa_offset 32
	str	x30, [sp, #24]
	.cfi_offset x30, -8
	blr	x16
	str	x0, [sp]
	mov	x1, x0
	add	x0, sp, #24
	bl	ftr_dlopen_returned
	ldr	x0, [sp]
	ldr	x30, [sp, #24]
	.cfi_restore x30
	add	sp, sp, #32
	.cfi_adjust_cfa_offset -32
	ret
END \name
.endm

	PASS dlopen, 0, x0, w1
	PASS dlmopen, 1, x1, w2

/*
 * What a program calls that was attached to (late.def): it is about to use what it has loaded.
 * ftr_dlsym_real(is_dlvsym) looks at that, and finds libc's function, which knows its caller by
 * the return address, too.
 */
.macro LOOK name, number
	.hidden	ftr_late_\name
FUNCTION ftr_late_\name
	SAVE_REGISTERS
	SAVE_RETURN x30
	mov	w0, #\number
	bl	ftr_dlsym_real
	mov	x16, x0
	RESTORE_RETURN
	RESTORE_REGISTERS
	br	x16
END ftr_late_\name
.endm

	LOOK dlsym, 0
	LOOK dlvsym, 1

	NOTES
