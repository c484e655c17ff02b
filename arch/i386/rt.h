/* SPDX-License-Identifier: MIT */
/*
 * What the runtime needs of the machine: system calls without libc, the tick counter, local
 * atomics.  32-bit programs on x86-64 processors: SSE2 is there.
 */
#ifndef FTR_ARCH_I386_RT_H
#define FTR_ARCH_I386_RT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/rt.h"
#include "utils/proto/own_call.h"

#define FTR_ARCH_AUDIT AUDIT_ARCH_I386		/* of <linux/audit.h>, as seccomp sees it */
#define FTR_ARCH_PLATFORM "i686"	/* what its dynamic linkers have for $PLATFORM */

/* mmap takes its arguments in registers, and pages as its offset, by another name. */
#define FTR_ARCH_SYS_MMAP SYS_mmap2
#define FTR_ARCH_MMAP_SHIFT 12
#define FTR_ARCH_SYS_FSTAT SYS_fstat64
#define FTR_ARCH_SYS_FSTATAT SYS_fstatat64
#define FTR_ARCH_ADDRESS_BYTES (UINT64_C(1) << 32)	/* that a process has at most */
#define FTR_ARCH_HAS_OTHER_MEMORY 1	/* see arch/x86_64/rt.h */

/*
 * A system call as the kernel gives it: no errno, no cancellation point, no vector register
 * touched. Returns the kernel's result, -errno on failure.  (arch/i386/kernel.S)
 */
long ftr_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
	__attribute__((visibility("hidden")));

/* An argument of 64 bits that comes fourth, in two registers, and the one behind it. */
#define FTR_ARCH_ARG64(value) (long)(value), (long)((uint64_t)(value) >> 32), 0

/*
 * clone(2) with a stack of its own for the child, which runs fn(arg) and ends; marked
 * (utils/proto/own_call.h). Returns in the parent: the child's number or -errno.
 */
static inline long ftr_arch_clone_run(unsigned long flags, void *stack_top, void (*fn)(void *arg),
				      void *arg)
{
	uintptr_t *top = stack_top;
	long ret;

	*--top = (uintptr_t)arg;
	*--top = (uintptr_t)fn;
	__asm__ volatile("pushl %%ebp\n\t"
			 "movl %[mark], %%ebp\n\t"
			 "int $0x80\n\t"
			 "testl %%eax, %%eax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "popl %%eax\n\t"
			 "call *%%eax\n\t"
			 "xorl %%ebx, %%ebx\n\t"
			 "movl %[exit], %%eax\n\t"
			 "int $0x80\n"
			 "1:\tpopl %%ebp"
			 : "=a"(ret)
			 : "a"(120L /* SYS_clone */), "b"(flags), "c"(top), "d"(0L), "S"(0L),
			   "D"(0L), [mark] "i"((long)FTR_OWN_CALL), [exit] "i"(1 /* SYS_exit */)
			 : "memory", "cc");
	return ret;
}

/* Compare and store in one instruction, local: true when *counter was *old, which else tells it. */
static inline bool ftr_arch_local_swap(uint64_t *counter, uint64_t *old, uint64_t value)
{
	bool is_done;

	__asm__ volatile("cmpxchg8b %1"
			 : "=@ccz"(is_done), "+m"(*counter), "+A"(*old)
			 : "b"((uint32_t)value), "c"((uint32_t)(value >> 32))
			 : "memory");
	return is_done;
}

static inline bool ftr_arch_local_cas(uint64_t *counter, uint64_t old, uint64_t value)
{
	return ftr_arch_local_swap(counter, &old, value);
}

/* The same with a word. */
static inline bool ftr_arch_local_cas_word(uintptr_t *word, uintptr_t old, uintptr_t value)
{
	bool is_done;

	__asm__ volatile("cmpxchgl %3, %1"
			 : "=@ccz"(is_done), "+m"(*word), "+a"(old)
			 : "r"(value)
			 : "memory");
	return is_done;
}

/*
 * Fetch and add, whole against this thread's signal handlers, not other threads.  What is read
 * first may be torn by a handler: then it is not what is found when it is exchanged.
 */
static inline uint64_t ftr_arch_local_add(uint64_t *counter, uint64_t nr)
{
	uint64_t old = *counter;

	while (!ftr_arch_local_swap(counter, &old, old + nr))
		;
	return old;
}

extern const char ftr_arch_got[] __asm__("_GLOBAL_OFFSET_TABLE_")
	__attribute__((visibility("hidden")));

/*
 * Is @variable, of initial-exec TLS, where the dynamic linker puts it?  Before it has relocated
 * this module the distance from the thread control block reads as 0.
 */
#define ftr_arch_is_relocated(variable) __extension__ ({ \
	bool is_zero_; \
	__asm__("cmpl $0, " #variable "@gotntpoff(%1)" : "=@ccz"(is_zero_) : "r"(ftr_arch_got)); \
	!is_zero_; \
})

/* The thread control block.  glibc keeps it at the upper end of a thread's stack. */
static inline uintptr_t ftr_arch_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("movl %%gs:0, %0" : "=r"(pointer));
	return pointer;
}

#endif /* FTR_ARCH_I386_RT_H */
