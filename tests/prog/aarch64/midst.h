/* SPDX-License-Identifier: MIT */
/*
 * See tests/prog/x86_64/midst.h.  There are no steps: a trap leads behind the first instruction of
 * a function, which does nothing, with x30 as a call has it.
 */
#define MIDST_AT 4		/* behind the first instruction */

/* stp x29, x30, [sp, #-16]!; blr x0; ldp x29, x30, [sp], #16; ret */
#define MIDST_CALLER 0xfd, 0x7b, 0xbf, 0xa9, 0, 0, 0x3f, 0xd6, \
		     0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6

#define MIDST_CALL(function, arg) __extension__ ({ \
	register long x0_ __asm__("x0") = (arg); \
	__asm__ volatile("adr x30, 1f\n\tbrk #0\n1:" : "+r"(x0_) : : \
			 "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", \
			 "x12", "x13", "x14", "x15", "x16", "x17", "x30", "cc", "memory"); \
	x0_; \
})
#define MIDST_IS_THERE(context, function) \
	(((ucontext_t *)(context))->uc_mcontext.pc = (uintptr_t)(function) + MIDST_AT, 1)
#define MIDST_GO_ON(context) ((void)(context))
