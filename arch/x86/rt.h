/* SPDX-License-Identifier: MIT */
/* What the runtime needs of the machine, in code of 64 bits and of 32 alike. */
#ifndef FTR_ARCH_X86_RT_H
#define FTR_ARCH_X86_RT_H

#include <stdint.h>

/* Does the slot that names a call hold its return address while it runs? */
#define FTR_ARCH_SLOT_STAYS 1

/*
 * How the dynamic linkers of all programs that run here find out where their program is before they
 * fill in $PLATFORM: the machine, as seccomp sees it, and the number of the call.
 */
#define FTR_ARCH_READLINKS(CALL) \
	CALL(AUDIT_ARCH_X86_64, 89) CALL(AUDIT_ARCH_I386, 85) CALL(AUDIT_ARCH_I386, 305)

/* What they put there for programs of the recorder's machine, and of the one beside. */
#define FTR_ARCH_PLATFORM_HOST "x86_64"
#define FTR_ARCH_PLATFORM_BESIDE "i686"

static inline uint64_t ftr_arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* ftr_arch_is_relocated, and @pointer is the address. */
#define ftr_arch_locate(pointer, variable) \
	((pointer) = &(variable), ftr_arch_is_relocated(variable))

#define FTR_ARCH_PAGE_BYTES 4096u

/* Of functions of C that code calls with the stack as it happens to be. */
#define FTR_ARCH_ALIGNS_STACK __attribute__((force_align_arg_pointer))

/*
 * The processor that this is run on: the kernel keeps it, in the lower 12 bits, as the limit of a
 * segment, for who asks without a system call.
 */
static inline uint32_t ftr_arch_cpu(void)
{
	uint32_t limit = 0;

	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(0x7bu) : "cc");
	return limit & 0xfff;
}

#define FTR_ARCH_COUNTER_ASKS 0	/* of perf_event_open, to be read in user space */
#define FTR_ARCH_COUNTER_REMEDY "echo 1 >/sys/bus/event_source/devices/cpu/rdpmc as root"

/* The performance counter @n: where the kernel says that it may be read (utils/proto/pmu.h). */
static inline uint64_t ftr_arch_counter(uint32_t n)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(n));
	return low | (uint64_t)high << 32;
}

static inline void ftr_arch_relax(void)
{
	__builtin_ia32_pause();
}

#endif /* FTR_ARCH_X86_RT_H */
