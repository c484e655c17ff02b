/* SPDX-License-Identifier: MIT */
/*
 * Where the heads of events in the midst of functions call (utils/proto/sdt.h).  As plain.S has it,
 * but for all registers being kept, for the operands of the event.
 */
#include "arch/x86_64/called.h"
#include "arch/x86_64/plain.h"
#include "arch/x86_64/saved.h"

#define SITE_BYTES	136
#define SITE_FLAGS	128
#define SITE_RSP	32
#define EACH_REGISTER(what) \
	what %rax, 0; what %rcx, 8; what %rdx, 16; what %rbx, 24; what %rbp, 40; \
	what %rsi, 48; what %rdi, 56; what %r8, 64; what %r9, 72; what %r10, 80; \
	what %r11, 88; what %r12, 96; what %r13, 104; what %r14, 112; what %r15, 120

.macro SAVE reg, at
	movq	\reg, \at(%rsp)
.endm

.macro RESTORE reg, at
	movq	\at(%rsp), \reg
.endm

	.text
	.hidden	ftr_site_entry
	.globl	ftr_site_entry
	.type	ftr_site_entry, @function
	.p2align 5
ftr_site_entry:
	.cfi_startproc
	.cfi_def_cfa_offset CALLED_CFA
	CALLED_BY_FUNCTION
	endbr64
	leaq	-SITE_BYTES(%rsp), %rsp
	.cfi_adjust_cfa_offset SITE_BYTES
	EACH_REGISTER(SAVE)
	lahf
	seto	%al
	movq	%rax, SITE_FLAGS(%rsp)
	leaq	SITE_BYTES + CALLED_CFA(%rsp), %rax
	movq	%rax, SITE_RSP(%rsp)
	movq	%rsp, %rdi
	movq	SITE_BYTES(%rsp), %rsi
	call	ftr_site_hit
	movq	SITE_FLAGS(%rsp), %rax
	addb	$0x7f, %al		/* overflows when it was 1 */
	sahf
	EACH_REGISTER(RESTORE)
	leaq	SITE_BYTES(%rsp), %rsp
	.cfi_adjust_cfa_offset -SITE_BYTES
	ret	$FTR_ARCH_RED_ZONE
END ftr_site_entry

	NOTES
