/* SPDX-License-Identifier: MIT */
/*
 * Atomic accesses of 8 bytes, which compilers call where they may not use vector registers.  One
 * access of such a register is whole; it is put back, for it is the program's.
 */
#include "arch/i386/saved.h"

#define SEQ_CST 5	/* __ATOMIC_SEQ_CST */

	.text

/* uint64_t __atomic_load_8(const void *from, int order) */
	.hidden	__atomic_load_8
FUNCTION __atomic_load_8
	movl	4(%esp), %eax
	subl	$24, %esp
	.cfi_adjust_cfa_offset 24
	movups	%xmm0, (%esp)
	movq	(%eax), %xmm0
	movq	%xmm0, 16(%esp)
	movups	(%esp), %xmm0
	movl	16(%esp), %eax
	movl	20(%esp), %edx
	addl	$24, %esp
	.cfi_adjust_cfa_offset -24
	ret
END __atomic_load_8

/* void __atomic_store_8(void *to, uint64_t value, int order) */
	.hidden	__atomic_store_8
FUNCTION __atomic_store_8
	movl	4(%esp), %eax
	subl	$16, %esp
	.cfi_adjust_cfa_offset 16
	movups	%xmm0, (%esp)
	movq	24(%esp), %xmm0
	movq	%xmm0, (%eax)
	movups	(%esp), %xmm0
	cmpl	$SEQ_CST, 32(%esp)
	jne	1f
	mfence
1:	addl	$16, %esp
	.cfi_adjust_cfa_offset -16
	ret
END __atomic_store_8

/*
 * uint64_t __atomic_fetch_NAME_8(void *to, uint64_t value, int order): by an instruction for the
 * lower half, and one for the upper.
 */
.macro FETCH name, low, high
	.hidden	__atomic_fetch_\name\()_8
FUNCTION __atomic_fetch_\name\()_8
	PUSH_KEPT ebx
	PUSH_KEPT esi
	movl	12(%esp), %esi
	movl	(%esi), %eax
	movl	4(%esi), %edx
1:	movl	%eax, %ebx
	movl	%edx, %ecx
	\low	16(%esp), %ebx
	\high	20(%esp), %ecx
	lock cmpxchg8b (%esi)
	jnz	1b
	POP_KEPT esi
	POP_KEPT ebx
	ret
END __atomic_fetch_\name\()_8
.endm

	FETCH add, addl, adcl
	FETCH or, orl, orl
	FETCH and, andl, andl

/* bool __atomic_compare_exchange_8(void *to, void *expected, uint64_t value, int, int) */
	.hidden	__atomic_compare_exchange_8
FUNCTION __atomic_compare_exchange_8
	PUSH_KEPT ebx
	PUSH_KEPT esi
	PUSH_KEPT edi
	movl	16(%esp), %esi
	movl	20(%esp), %edi
	movl	(%edi), %eax
	movl	4(%edi), %edx
	movl	24(%esp), %ebx
	movl	28(%esp), %ecx
	lock cmpxchg8b (%esi)
	movl	%eax, (%edi)
	movl	%edx, 4(%edi)
	sete	%al
	movzbl	%al, %eax
	POP_KEPT edi
	POP_KEPT esi
	POP_KEPT ebx
	ret
END __atomic_compare_exchange_8

	NOTES
