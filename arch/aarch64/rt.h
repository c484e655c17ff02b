/* SPDX-License-Identifier: MIT */
/*
 * What the runtime needs of the machine: system calls without libc, the tick counter, local
 * atomics.
 */
#ifndef FTR_ARCH_AARCH64_RT_H
#define FTR_ARCH_AARCH64_RT_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/proto/own_call.h"

#define FTR_ARCH_HOST ftr_arch_aarch64		/* the other half: arch/arch.h */
#define FTR_ARCH_HOST_ABIS ftr_abis_aarch64
#define FTR_ARCH_AUDIT AUDIT_ARCH_AARCH64	/* of <linux/audit.h>, as seccomp sees the host */

/*
 * How the dynamic linkers of all programs that run here find out where their program is before they
 * fill in $PLATFORM: the machine, as seccomp sees it, and the number of the call.
 */
#define FTR_ARCH_READLINKS(CALL) \
	CALL(AUDIT_ARCH_AARCH64, 78)

/* What they put there, were there programs of another machine beside. */
#define FTR_ARCH_PLATFORM "aarch64"
#define FTR_ARCH_PLATFORM_HOST FTR_ARCH_PLATFORM
#define FTR_ARCH_PLATFORM_BESIDE FTR_ARCH_PLATFORM

/* Return addresses are in x30: the word that names a call is the function's own while it runs. */
#define FTR_ARCH_SLOT_STAYS 0

/*
 * A system call as the kernel gives it: no errno, no cancellation point, no vector register
 * touched. Returns the kernel's result, -errno on failure.
 */
static inline long ftr_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

/*
 * clone(2) with a stack of its own for the child, which runs fn(arg) and ends; marked
 * (utils/proto/own_call.h). Returns in the parent: the child's number or -errno.
 */
static inline long ftr_arch_clone_run(unsigned long flags, void *stack_top, void (*fn)(void *arg),
				      void *arg)
{
	register long x8 __asm__("x8") = 220;	/* SYS_clone */
	register long x0 __asm__("x0") = (long)flags;
	register long x1 __asm__("x1") = (long)stack_top;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;
	register long x5 __asm__("x5") = (long)FTR_OWN_CALL;
	register void (*child_fn)(void *) __asm__("x9") = fn;
	register void *child_arg __asm__("x10") = arg;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x10\n\t"
			 "blr x9\n\t"
			 "mov x0, xzr\n\t"
			 "mov x8, %[exit]\n\t"
			 "svc #0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(child_fn),
			   "r"(child_arg), [exit] "i"(93 /* SYS_exit */)
			 : "x30", "memory", "cc");
	return x0;
}

/* Of the generic timer: some tens of MHz. */
static inline uint64_t ftr_arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/*
 * Fetch and add, whole against this thread's signal handlers: a signal takes the reservation away,
 * and the store is not done.
 */
static inline uint64_t ftr_arch_local_add(uint64_t *counter, uint64_t nr)
{
	uint64_t old, sum;
	uint32_t is_refused;

	__asm__ volatile("1:	ldxr %0, %3\n"
			 "	add %1, %0, %4\n"
			 "	stxr %w2, %1, %3\n"
			 "	cbnz %w2, 1b"
			 : "=&r"(old), "=&r"(sum), "=&r"(is_refused), "+Q"(*counter)
			 : "rI"(nr)
			 : "memory");
	return old;
}

/*
 * Compare and store, local likewise: true when *counter was @old.  Another thread that sees what is
 * stored sees what was stored before.
 */
static inline bool ftr_arch_local_cas(uint64_t *counter, uint64_t old, uint64_t value)
{
	if (__builtin_constant_p(old) && old == 0) {
		__asm__ goto("1:	ldxr x16, %0\n"
			     "	cbnz x16, %l[is_other]\n"
			     "	stlxr w17, %x1, %0\n"
			     "	cbnz w17, 1b"
			     :
			     : "Q"(*counter), "rZ"(value)
			     : "x16", "x17", "memory"
			     : is_other);
		return true;
	}
	__asm__ goto("1:	ldxr x16, %0\n"
		     "	eor x16, x16, %1\n"
		     "	cbnz x16, %l[is_other]\n"
		     "	stlxr w17, %x2, %0\n"
		     "	cbnz w17, 1b"
		     :
		     : "Q"(*counter), "r"(old), "rZ"(value)
		     : "x16", "x17", "memory"
		     : is_other);
	return true;
is_other:
	return false;
}

/*
 * Is @variable, of initial-exec TLS, where the dynamic linker puts it?  Before it has relocated
 * this module the distance from the thread pointer reads as 0.
 */
#define ftr_arch_is_relocated(variable) __extension__ ({ \
	uint64_t distance_; \
	__asm__("adrp %0, :gottprel:" #variable "\n\t" \
		"ldr %0, [%0, #:gottprel_lo12:" #variable "]" : "=r"(distance_)); \
	distance_ != 0; \
})

/* What thread-local storage is counted from.  glibc keeps it at a thread's stack's upper end. */
static inline uintptr_t ftr_arch_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
	return pointer;
}

/* As ftr_arch_is_relocated, and @pointer is the address: the distance is read but once. */
#define ftr_arch_locate(pointer, variable) __extension__ ({ \
	uint64_t distance_; \
	__asm__("adrp %0, :gottprel:" #variable "\n\t" \
		"ldr %0, [%0, #:gottprel_lo12:" #variable "]" : "=r"(distance_)); \
	(pointer) = (__typeof__(pointer))(ftr_arch_thread_pointer() + distance_); \
	distance_ != 0; \
})

/*
 * @address as a function that is entered at @sp signs it, by either key; as it is where the
 * processor does not sign.
 */
static inline uintptr_t ftr_arch_sign(uintptr_t address, bool is_key_b, uintptr_t sp)
{
	register uintptr_t x17 __asm__("x17") = address;
	register uintptr_t x16 __asm__("x16") = sp;

	if (is_key_b)
		__asm__("hint #10" : "+r"(x17) : "r"(x16));	/* pacib1716 */
	else
		__asm__("hint #8" : "+r"(x17) : "r"(x16));	/* pacia1716 */
	return x17;
}

#define FTR_ARCH_PAGE_BYTES 4096u

/* The processor sees to it. */
#define FTR_ARCH_ALIGNS_STACK

/* The processor that this is run on, as the kernel tells it. */
static inline uint32_t ftr_arch_cpu(void)
{
	uint32_t cpu = 0;

	ftr_arch_syscall(168 /* SYS_getcpu */, (long)&cpu, 0, 0, 0, 0, 0);
	return cpu;
}

/* config1 of perf_event_open: to be read in user space (armv8_pmuv3: rdpmc). */
#define FTR_ARCH_COUNTER_ASKS 2
#define FTR_ARCH_COUNTER_REMEDY "set kernel.perf_user_access to 1 with sysctl"

#define FTR_ARCH_CYCLE_COUNTER 31u

/* The performance counter @n: where the kernel says that it may be read (utils/proto/pmu.h). */
static inline uint64_t ftr_arch_counter(uint32_t n)
{
	uint64_t value = 0;

	if (n == FTR_ARCH_CYCLE_COUNTER) {
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		return value;
	}
	/* The number stands in the instruction. */
	switch (n) {
#define COUNTER(n) \
	case n: \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
		break;
	COUNTER(0) COUNTER(1) COUNTER(2) COUNTER(3) COUNTER(4) COUNTER(5) COUNTER(6) COUNTER(7)
	COUNTER(8) COUNTER(9) COUNTER(10) COUNTER(11) COUNTER(12) COUNTER(13) COUNTER(14)
	COUNTER(15) COUNTER(16) COUNTER(17) COUNTER(18) COUNTER(19) COUNTER(20) COUNTER(21)
	COUNTER(22) COUNTER(23) COUNTER(24) COUNTER(25) COUNTER(26) COUNTER(27) COUNTER(28)
	COUNTER(29) COUNTER(30)
#undef COUNTER
	default:
		break;
	}
	return value;
}

static inline void ftr_arch_relax(void)
{
	__asm__ volatile("yield");
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
#define FTR_ARCH_HAS_OTHER_MEMORY 0	/* see arch/x86_64/rt.h */

/* An argument of 64 bits that comes fourth, and those behind it. */
#define FTR_ARCH_ARG64(value) (long)(value), 0, 0

#endif /* FTR_ARCH_AARCH64_RT_H */
