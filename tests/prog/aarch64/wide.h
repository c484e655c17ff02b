/* SPDX-License-Identifier: MIT */
/* Vector registers as wide as they are: SVE's, where the machine has them. */
#include <sys/auxv.h>

#define WIDE_IS_THERE() ((getauxval(AT_HWCAP) & 1ul << 22) != 0)	/* HWCAP_SVE */

/* Fill some with @value, have @turns go by without a system call, and look; 0 = they changed. */
static __attribute__((target("+sve"), noinline, no_instrument_function)) int
wide_stay(unsigned char value, unsigned long turns)
{
	unsigned long is_other;

	__asm__ volatile("ptrue p0.b\n\t"
			 "dup z0.b, %w1\n\tdup z15.b, %w1\n\tdup z31.b, %w1\n\t"
			 "pfalse p7.b\n\t"
			 "1: subs %2, %2, #1\n\tb.ne 1b\n\t"
			 "ptrue p1.b\n\t"
			 "cmpne p2.b, p1/z, z0.b, z15.b\n\tcntp %0, p1, p2.b\n\t"
			 "cmpne p2.b, p1/z, z0.b, z31.b\n\tcntp x9, p1, p2.b\n\tadd %0, %0, x9\n\t"
			 "dup z1.b, %w1\n\t"
			 "cmpne p2.b, p1/z, z0.b, z1.b\n\tcntp x9, p1, p2.b\n\tadd %0, %0, x9\n\t"
			 "cntp x9, p1, p7.b\n\tadd %0, %0, x9"
			 : "=&r"(is_other), "+r"(value), "+r"(turns)
			 : : "x9", "cc", "v0", "v1", "v15", "v31", "p0", "p1", "p2", "p7");
	return is_other == 0;
}
