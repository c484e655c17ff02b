/* SPDX-License-Identifier: MIT */
/*
 * Library calls with arguments and results of every class of the ABI: registers of both kinds,
 * pairs, the x87 stack, memory behind a hidden pointer, variable arguments, vectors up to 512 bits.
 *
 * only: pg-O0 pg-O2 pg-O3-cet pg-O1-nopie fentry-O2 fentry-O0-cet fentry-O3-nopie cyg-O0 cyg-O2
 * libraries: abi
 * record: --no-randomize-addr
 * again: --nest-libcall
 * again: --estimate-return
 * expect-calls: main 1
 * expect-calls: abi_big 2
 * expect-calls: abi_x87 2
 * expect-calls: abi_long_complex 2
 * expect-calls: abi_int128 2
 * expect-calls: abi_variable 2
 * expect-calls: abi_many 2
 * expect-calls: abi_m128 2
 */
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>

struct big { long v[8]; };
struct pair { long a, b; };
struct mixed { long a; double b; };
struct doubles { double a, b; };
struct small { char c[3]; };
struct x87 { long double x; };

struct big abi_big(int n, struct big in);
struct pair abi_pair(long a, long b);
struct mixed abi_mixed(struct mixed in);
struct doubles abi_doubles(double a, double b);
struct small abi_small(struct small in);
struct x87 abi_x87(struct x87 in);
long double abi_long_double(long double x, int n);
double _Complex abi_complex(double _Complex z);
float _Complex abi_float_complex(float _Complex z);
long double _Complex abi_long_complex(long double _Complex z);
__int128 abi_int128(__int128 x, unsigned __int128 y);
double abi_variable(int nr, ...);
long abi_many(long a, long b, long c, long d, long e, long f, long g, double h, long i,
	      long double j);
__m128 abi_m128(__m128 a, __m128 b);
__m256 abi_m256(__m256 a, __m256 b);
__m512 abi_m512(__m512 a, __m512 b);

#define AVX __attribute__((target("avx"), noinline))
#define AVX512 __attribute__((target("avx512f"), noinline))

#ifdef LIBRARY

struct big abi_big(int n, struct big in)
{
	for (int i = 0; i < 8; i++)
		in.v[i] += n;
	return in;
}

struct pair abi_pair(long a, long b)
{
	return (struct pair){ b, a };
}

struct mixed abi_mixed(struct mixed in)
{
	return (struct mixed){ in.a + 1, in.b * 2 };
}

struct doubles abi_doubles(double a, double b)
{
	return (struct doubles){ b, a };
}

struct small abi_small(struct small in)
{
	in.c[1]++;
	return in;
}

struct x87 abi_x87(struct x87 in)
{
	in.x /= 3;
	return in;
}

long double abi_long_double(long double x, int n)
{
	return x * n;
}

double _Complex abi_complex(double _Complex z)
{
	return conj(z);
}

float _Complex abi_float_complex(float _Complex z)
{
	return conjf(z);
}

long double _Complex abi_long_complex(long double _Complex z)
{
	return conjl(z);
}

__int128 abi_int128(__int128 x, unsigned __int128 y)
{
	return x - (__int128)y;
}

double abi_variable(int nr, ...)
{
	double sum = 0;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < nr; i++)
		sum += i % 2 == 0 ? va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return sum;
}

long abi_many(long a, long b, long c, long d, long e, long f, long g, double h, long i,
	      long double j)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + (long)(8 * h) + 9 * i +
	       (long)(10 * j);
}

__m128 abi_m128(__m128 a, __m128 b)
{
	return a - b;
}

AVX __m256 abi_m256(__m256 a, __m256 b)
{
	return a - b;
}

AVX512 __m512 abi_m512(__m512 a, __m512 b)
{
	return a - b;
}

#else

static void show(const char *name, const float *v, int nr)
{
	printf("%s:", name);
	for (int i = 0; i < nr; i++)
		printf(" %g", v[i]);
	printf("\n");
}

static AVX void use_avx(void)
{
	__m256 r = abi_m256(_mm256_set_ps(8, 7, 6, 5, 4, 3, 2, 1), _mm256_set1_ps(0.5f));
	float v[8];

	_mm256_storeu_ps(v, r);
	show("256", v, 8);
}

static AVX512 void use_avx512(void)
{
	__m512 r = abi_m512(_mm512_set_ps(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
			    _mm512_set1_ps(0.5f));
	float v[16];

	_mm512_storeu_ps(v, r);
	show("512", v, 16);
}

static void use_structs(void)
{
	struct big big = abi_big(3, (struct big){ { 1, 2, 3, 4, 5, 6, 7, 8 } });
	struct pair pair = abi_pair(1, 2);
	struct mixed mixed = abi_mixed((struct mixed){ 1, 2.5 });
	struct doubles doubles = abi_doubles(1.5, 2.5);
	struct small small = abi_small((struct small){ "ab" });

	printf("%ld %ld %ld\n", big.v[0], big.v[3], big.v[7]);
	printf("%ld %ld %ld %g %g %g %s\n", pair.a, pair.b, mixed.a, mixed.b, doubles.a, doubles.b,
	       small.c);
	printf("%Lg\n", abi_x87((struct x87){ 10 }).x);
}

int main(void)
{
	double _Complex z = abi_complex(1 + 2 * I);
	float _Complex f = abi_float_complex(3 + 4 * I);
	long double _Complex l = abi_long_complex(5 + 6 * I);
	__int128 wide = abi_int128((__int128)1 << 100, (unsigned __int128)1 << 64);
	__m128 m128 = abi_m128(_mm_set_ps(4, 3, 2, 1), _mm_set1_ps(0.25f));
	float v[4];

	use_structs();
	printf("%.20Lg\n", abi_long_double(1.0L / 3, 7));
	printf("%g %g %g %g %Lg %Lg\n", creal(z), cimag(z), crealf(f), cimagf(f), creall(l),
	       cimagl(l));
	printf("%lx %lx\n", (long)(wide >> 64), (long)wide);
	printf("%g\n", abi_variable(9, 1.0, 2, 3.0, 4, 5.0, 6, 7.5, 8, 9.25));
	printf("%ld\n", abi_many(1, 2, 3, 4, 5, 6, 7, 8.5, 9, 10.5L));
	_mm_storeu_ps(v, m128);
	show("128", v, 4);
	if (__builtin_cpu_supports("avx"))
		use_avx();
	if (__builtin_cpu_supports("avx512f"))
		use_avx512();
	return 0;
}

#endif
