/* SPDX-License-Identifier: MIT */
/*
 * Transactions of the processor (TSX; Intel SDM, volume 1, chapter 16).  Whatever goes wrong in one
 * ends it and takes back what it wrote.  So does a page fault, of which the kernel then hears
 * nothing: what a transaction could read was there at one moment, all of it.
 */
#ifndef FTR_ARCH_X86_64_TRANSACTION_H
#define FTR_ARCH_X86_64_TRANSACTION_H

#include <stdbool.h>
#include <stdint.h>

struct ftr_arch_cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct ftr_arch_cpuid ftr_arch_cpuid(uint32_t leaf)
{
	struct ftr_arch_cpuid id = { .eax = leaf };

	__asm__ volatile("cpuid" : "+a"(id.eax), "=b"(id.ebx), "+c"(id.ecx), "=d"(id.edx));
	return id;
}

#define FTR_ARCH_CPUID_FEATURES 7u
#define FTR_ARCH_RTM (1u << 11)			/* of ebx: there are transactions */
#define FTR_ARCH_RTM_ALWAYS_ABORT (1u << 11)	/* of edx: but microcode ends each at once */

/* Asked before the program runs, which may have the kernel refuse it cpuid (ARCH_SET_CPUID). */
static inline bool ftr_arch_has_transactions(void)
{
	struct ftr_arch_cpuid id;

	if (ftr_arch_cpuid(0).eax < FTR_ARCH_CPUID_FEATURES)
		return false;
	id = ftr_arch_cpuid(FTR_ARCH_CPUID_FEATURES);
	return (id.ebx & FTR_ARCH_RTM) != 0 && (id.edx & FTR_ARCH_RTM_ALWAYS_ABORT) == 0;
}

/*
 * Begin one.  True: we are in it.  When it ends before its time we are here again, with nothing
 * done since, and the answer is false.
 */
static inline bool ftr_arch_transaction_begin(void)
{
	uint32_t status = UINT32_MAX;

	__asm__ volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
	return status == UINT32_MAX;
}

static inline void ftr_arch_transaction_end(void)
{
	__asm__ volatile("xend" : : : "memory");
}

#endif /* FTR_ARCH_X86_64_TRANSACTION_H */
