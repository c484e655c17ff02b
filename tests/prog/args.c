/* SPDX-License-Identifier: MIT */
/*
 * Arguments and return values of every class of the ABI arrive unharmed, also in a thread's first
 * call.
 *
 * again: --no-libcall --estimate-return
 * again: --nest-libcall
 * expect-calls: first 1
 * expect-calls: mixed 1
 * expect-calls: sum_varargs 2
 * expect-calls: by_registers 1
 * expect-calls: long_double 1
 * expect-calls: int128 1
 * expect-calls: complex_double 1
 * expect-calls: in_memory 1
 * expect-calls: main 1
 */
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline, noclone))

struct pair { long a; double b; };
struct four { double a, b; };
struct big { long v[6]; };

NOINLINE double first(double a, float b, int c, double d, double e, double f, double g, double h)
{
	return a + b + c + d + e + f + g + h;
}

NOINLINE long mixed(long a, double b, char c, float d, short e, long f, long g, double h, long i,
		    long j)
{
	return a * 2 + (long)(b * 3) + c * 5 + (long)(d * 7) + e * 11 + f * 13 + g * 17 +
	       (long)(h * 19) + i * 23 + j * 29;
}

NOINLINE double sum_varargs(int nr, ...)
{
	double sum = 0;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < nr; i++)
		sum += i % 2 ? va_arg(ap, double) : va_arg(ap, int);
	va_end(ap);
	return sum;
}

NOINLINE struct pair by_registers(struct pair p, struct four f)
{
	return (struct pair){ p.a + 1, p.b + f.a * f.b };
}

NOINLINE long double long_double(long double a, long double b)
{
	return a / b;
}

NOINLINE __int128 int128(__int128 a, __int128 b)
{
	return a * b + 1;
}

NOINLINE double complex complex_double(double complex a, float complex b)
{
	return a * b;
}

NOINLINE struct big in_memory(struct big b, int add)
{
	for (int i = 0; i < 6; i++)
		b.v[i] += add;
	return b;
}

int main(void)
{
	struct pair p;
	struct big b = { { 1, 2, 3, 4, 5, 6 } };
	double complex c;
	__int128 i;

	printf("%.17g\n", first(0.1, 0.2f, 3, 0.4, 0.5, 0.6, 0.7, 0.8));
	printf("%ld\n", mixed(1, 2.5, 'x', 3.25f, -4, 5, 6, 7.125, 8, 9));
	printf("%.17g\n", sum_varargs(8, 1, 0.5, 2, 0.25, 3, 0.125, 4, 0.0625));
	printf("%.17g\n", sum_varargs(1, 42));
	p = by_registers((struct pair){ 41, 0.1 }, (struct four){ 1.5, 2.5 });
	printf("%ld %.17g\n", p.a, p.b);
	printf("%.21Lg\n", long_double(1.0L, 3.0L));
	i = int128(((__int128)1 << 100) + 7, -3);
	printf("%llx %llx\n", (unsigned long long)(i >> 64), (unsigned long long)i);
	c = complex_double(1.5 + 2.5 * I, 3.0f - 1.0f * I);
	printf("%.17g %.17g\n", creal(c), cimag(c));
	b = in_memory(b, 10);
	printf("%ld %ld\n", b.v[0], b.v[5]);
	return 0;
}
