/* SPDX-License-Identifier: MIT */
/*
 * What the runtime needs of the machine: system calls without libc, the tick counter, local
 * atomics.
 */
#ifndef FTR_ARCH_X86_64_RT_H
#define FTR_ARCH_X86_64_RT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/rt.h"
#include "utils/proto/own_call.h"

#define FTR_ARCH_HOST ftr_arch_x86_64		/* the other half: arch/arch.h */
#define FTR_ARCH_HOST_ABIS ftr_abis_x86_64
#define FTR_ARCH_AUDIT AUDIT_ARCH_X86_64	/* of <linux/audit.h>, as seccomp sees the host */
#define FTR_ARCH_PLATFORM "x86_64"	/* what its dynamic linkers have for $PLATFORM */

/*
 * A system call as the kernel gives it: no errno, no cancellation point, no vector register
 * touched. Returns the kernel's result, -errno on failure.
 */
static inline long ftr_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/*
 * clone(2) with a stack of its own for the child, which runs fn(arg) and ends; marked
 * (utils/proto/own_call.h). Returns in the parent: the child's number or -errno.
 */
static inline long ftr_arch_clone_run(unsigned long flags, void *stack_top, void (*fn)(void *arg),
				      void *arg)
{
	register void (*child_fn)(void *) __asm__("r12") = fn;
	register void *child_arg __asm__("r13") = arg;
	register long zero __asm__("r10") = 0;
	register long tls __asm__("r8") = 0;
	register unsigned long mark __asm__("r9") = FTR_OWN_CALL;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "movq %%r13, %%rdi\n\t"
			 "callq *%%r12\n\t"
			 "xorl %%edi, %%edi\n\t"
			 "movl %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(56L /* SYS_clone */), "D"(flags), "S"(stack_top), "d"(0L), "r"(zero),
			   "r"(tls), "r"(mark), "r"(child_fn),
			   "r"(child_arg), [exit] "i"(60 /* SYS_exit */)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

/*
 * Fetch and add in one instruction: whole against this thread's signal handlers, not other threads.
 */
static inline uint64_t ftr_arch_local_add(uint64_t *counter, uint64_t nr)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(nr), "+m"(*counter) : : "memory", "cc");
	return nr;
}

/* Compare and store in one instruction, local likewise: true when *counter was @old. */
static inline bool ftr_arch_local_cas(uint64_t *counter, uint64_t old, uint64_t value)
{
	bool is_done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(is_done), "+m"(*counter), "+a"(old)
			 : "r"(value)
			 : "memory");
	return is_done;
}

/*
 * Is @variable, of initial-exec TLS, where the dynamic linker puts it?  Before it has relocated
 * this module the distance from the thread control block reads as 0.
 */
#define ftr_arch_is_relocated(variable) __extension__ ({ \
	bool is_zero_; \
	__asm__("cmpq $0, " #variable "@gottpoff(%%rip)" : "=@ccz"(is_zero_)); \
	!is_zero_; \
})

/* The thread control block.  glibc keeps it at the upper end of a thread's stack. */
static inline uintptr_t ftr_arch_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/* The same with a word. */
static inline bool ftr_arch_local_cas_word(uintptr_t *word, uintptr_t old, uintptr_t value)
{
	return ftr_arch_local_cas((uint64_t *)word, old, value);
}

/* mmap: its number, and the unit of its offset; stat of a file by its name and directory. */
#define FTR_ARCH_SYS_MMAP SYS_mmap
#define FTR_ARCH_MMAP_SHIFT 0
#define FTR_ARCH_SYS_FSTAT SYS_fstat
#define FTR_ARCH_SYS_FSTATAT SYS_newfstatat
#define FTR_ARCH_ADDRESS_BYTES UINT64_MAX	/* that a process has at most: enough */

/* /proc/self/mem may be an emulator's, not the program's. */
#define FTR_ARCH_HAS_OTHER_MEMORY 0

/* An argument of 64 bits that comes fourth, and those behind it. */
#define FTR_ARCH_ARG64(value) (long)(value), 0, 0

#endif /* FTR_ARCH_X86_64_RT_H */
