/* SPDX-License-Identifier: MIT */
/* mcount and __fentry__ of the library that records nothing: every register stays as it is. */
#include "arch/i386/saved.h"

	.text
	.globl	_mcount
	.type	_mcount, @function
	.set	_mcount, mcount
FUNCTION mcount
	ret
END mcount

FUNCTION __fentry__
	ret
END __fentry__

	NOTES
