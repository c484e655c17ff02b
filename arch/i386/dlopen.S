/* SPDX-License-Identifier: MIT */
/*
 * dlopen and dlmopen.  libc searches by the module that called, which it knows from the return
 * address: where that matters, this is a jump to libc's function with everything else as it was.
 * Elsewhere libc's function returns to here.
 */
#include "arch/i386/saved.h"

	.text

/*
 * ftr_dlopen_real(is_dlmopen, mode, file, ip): libc's function, and whether to call it, in memory
 * that comes first among its arguments.
 */
.macro PASS name, number, words
FUNCTION \name
	FRAME_MAKE
	leal	ARGUMENT_BYTES(%esp), %eax	/* where eax and its upper half are saved */
	movl	%eax, 0(%esp)
	movl	$\number, 4(%esp)
	movl	FRAME_BYTES + 4 * \words(%esp), %eax
	movl	%eax, 8(%esp)
	movl	FRAME_BYTES + 4 * \words - 4(%esp), %eax
	movl	%eax, 12(%esp)
	movl	FRAME_BYTES(%esp), %eax
	movl	%eax, 16(%esp)
	call	ftr_dlopen_real
	subl	$4, %esp			/* it took that off */
	movl	ARGUMENT_BYTES + SAVED_EAX(%esp), %eax
	movl	ARGUMENT_BYTES + SAVED_EAX + 4(%esp), %ecx
	addl	$FRAME_BYTES, %esp
	.cfi_adjust_cfa_offset -FRAME_BYTES
	testl	%ecx, %ecx
	jnz	1f
	jmp	*%eax
1:	subl	$28, %esp
	.cfi_adjust_cfa_offset 28
	.set	i, 0
	.rept	\words
	movl	32 + 4 * i(%esp), %ecx
	movl	%ecx, 4 * i(%esp)
	.set	i, i + 1
	.endr
	call	*%eax
	movl	%eax, 24(%esp)
	movl	%eax, 4(%esp)
	leal	28(%esp), %ecx
	movl	%ecx, 0(%esp)
	call	ftr_dlopen_returned
	movl	24(%esp), %eax
	addl	$28, %esp
	.cfi_adjust_cfa_offset -28
	ret
END \name
.endm

	PASS dlopen, 0, 2
	PASS dlmopen, 1, 3

/*
 * What a program calls that was attached to (late.def): it is about to use what it has loaded.
 * ftr_dlsym_real(is_dlvsym) looks at that, and finds libc's function, which knows its caller by
 * the return address, too.
 */
.macro LOOK name, number
	.hidden	ftr_late_\name
FUNCTION ftr_late_\name
	subl	$12, %esp
	.cfi_adjust_cfa_offset 12
	movl	$\number, 0(%esp)
	call	ftr_dlsym_real
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	jmp	*%eax
END ftr_late_\name
.endm

	LOOK dlsym, 0
	LOOK dlvsym, 1

	NOTES
