/* SPDX-License-Identifier: MIT */
/*
 * Having a thread stand in the midst of the first instructions of a function: SIGTRAP's handler is
 * called with each step of a call of it.
 */
#define MIDST 5			/* bytes that a jump takes */
#define TRAP_FLAG 0x100
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
