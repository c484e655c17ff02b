/* SPDX-License-Identifier: MIT */
/*
 * Vector arguments, results and varargs survive: SSE, and AVX where the processor has it.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: add_sse 1
 * expect-calls: main 1
 */
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))
#define AVX __attribute__((target("avx")))
#define AVX512 __attribute__((target("avx512f")))

NOINLINE __m128d add_sse(__m128d a, __m128d b)
{
	return _mm_add_pd(a, b);
}

NOINLINE AVX __m256d add_avx(__m256d a, __m256d b, double c)
{
	return _mm256_add_pd(_mm256_add_pd(a, b), _mm256_set1_pd(c));
}

NOINLINE AVX double pick_avx(int which, ...)
{
	double out[4];
	__m256d v;
	va_list ap;

	va_start(ap, which);
	v = va_arg(ap, __m256d);
	va_end(ap);
	_mm256_storeu_pd(out, v);
	return out[which];
}

NOINLINE AVX void try_avx(void)
{
	double out[4];

	_mm256_storeu_pd(out, add_avx(_mm256_set_pd(4, 3, 2, 1), _mm256_set1_pd(0.5), 0.25));
	printf("%g %g %g %g\n", out[0], out[1], out[2], out[3]);
	printf("%g\n", pick_avx(2, _mm256_set_pd(9, 8, 7, 6)));
}

NOINLINE AVX512 __m512d add_avx512(__m512d a, __m512d b)
{
	return _mm512_add_pd(a, b);
}

NOINLINE AVX512 void try_avx512(void)
{
	double out[8];

	_mm512_storeu_pd(out, add_avx512(_mm512_set1_pd(1.5), _mm512_set1_pd(2.5)));
	printf("%g %g\n", out[0], out[7]);
}

int main(void)
{
	double out[2];

	_mm_storeu_pd(out, add_sse(_mm_set_pd(2.5, 1.5), _mm_set_pd(0.25, 0.125)));
	printf("%g %g\n", out[0], out[1]);
	if (__builtin_cpu_supports("avx"))
		try_avx();
	if (__builtin_cpu_supports("avx512f"))
		try_avx512();
	return 0;
}
