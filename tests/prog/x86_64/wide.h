/* SPDX-License-Identifier: MIT */
/* See tests/prog/aarch64/wide.h: AVX's. */
#define WIDE_IS_THERE() __builtin_cpu_supports("avx2")

static __attribute__((target("avx2"), noinline, no_instrument_function)) int
wide_stay(unsigned char value, unsigned long turns)
{
	unsigned mask, word = value;

	__asm__ volatile("vmovd %2, %%xmm0\n\tvpbroadcastb %%xmm0, %%ymm0\n\t"
			 "vmovdqa %%ymm0, %%ymm15\n\t"
			 "1: dec %1\n\tjnz 1b\n\t"
			 "vpcmpeqb %%ymm0, %%ymm15, %%ymm1\n\tvpmovmskb %%ymm1, %0\n\t"
			 "vmovd %2, %%xmm1\n\tvpbroadcastb %%xmm1, %%ymm1\n\t"
			 "vpcmpeqb %%ymm0, %%ymm1, %%ymm1\n\tvpmovmskb %%ymm1, %2\n\t"
			 "and %2, %0"
			 : "=&r"(mask), "+r"(turns), "+r"(word)
			 : : "cc", "xmm0", "xmm1", "xmm15");
	return mask == ~0u;
}
