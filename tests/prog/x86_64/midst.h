/* SPDX-License-Identifier: MIT */
/*
 * Having a thread stand in the midst of the first instructions of a function: SIGTRAP's handler is
 * called with each step of a call of it.
 */
#define MIDST 5			/* bytes that a jump takes */
#define MIDST_AT 1
#define TRAP_FLAG 0x100

/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret: code that nobody has information about */
#define MIDST_CALLER 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3

#define MIDST_CALL(function, arg) __extension__ ({ \
	__asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "cc", "memory"); \
	function(arg); \
})

/* Is it there?  Else it takes another step. */
#define MIDST_IS_THERE(context, function) \
	((uintptr_t)((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP] - (uintptr_t)(function) \
	 - 1 < MIDST - 1)

/* It goes on from there. */
#define MIDST_GO_ON(context) \
	(((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG)
