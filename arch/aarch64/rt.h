/* SPDX-License-Identifier: MIT */
/* What is shared with a runtime on 64-bit Arm: system calls without libc, the tick counter. */
#ifndef FTR_ARCH_AARCH64_RT_H
#define FTR_ARCH_AARCH64_RT_H

#include <stdint.h>

#define FTR_ARCH_HOST ftr_arch_aarch64		/* the other half: arch/arch.h */
#define FTR_ARCH_HOST_ABIS ftr_abis_aarch64
#define FTR_ARCH_AUDIT AUDIT_ARCH_AARCH64	/* of <linux/audit.h>, as seccomp sees the host */

/* A system call as the kernel gives it: no errno. Returns its result, -errno on failure. */
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

/* Of the generic timer: some tens of MHz. */
static inline uint64_t ftr_arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

#endif /* FTR_ARCH_AARCH64_RT_H */
