/* SPDX-License-Identifier: MIT */
/* Values of each kind, as 32-bit programs pass and return them (tests/e2e/multilib.py). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

#ifdef __i386__
#define REGPARM __attribute__((regparm(3)))
#define FASTCALL __attribute__((fastcall))
#else
#define REGPARM
#define FASTCALL
#endif

enum color { RED, GREEN, BLUE };

struct pair {
	int x, y;
};

NOINLINE int ints(int a, unsigned b, char c, short d, long long e, long f)
{
	return (int)(a + b + c + d + e + f);
}

NOINLINE double reals(double a, float b, long double c, int d)
{
	return (double)(a * b + c + d);
}

NOINLINE float single(float x)
{
	return x / 2;
}

NOINLINE long double longer(long double x)
{
	return x * 2;
}

NOINLINE long long wide(long long x)
{
	return x * 3;
}

NOINLINE const char *text(const char *s, const char *none)
{
	return none == NULL ? s + 1 : none;
}

NOINLINE enum color next(enum color c)
{
	return c + 1;
}

NOINLINE struct pair swapped(struct pair p, int n)
{
	return (struct pair){ p.y, p.x + n };
}

NOINLINE int negative(int n)
{
	return -n;
}

NOINLINE REGPARM int registers(int a, int b, int c, int d)
{
	return a + b * c - d;
}

NOINLINE FASTCALL int fast(int a, int b, int c)
{
	return a * b * c;
}

/* Compilers choose where its arguments are. */
NOINLINE static int chosen(int a, const char *s, int c)
{
	return a + s[0] + c;
}

int main(int argc, char **argv)
{
	printf("%d\n", ints(1, 2, 'x', -4, -5000000000, -6));
	printf("%g %g %Lg\n", reals(0.5, 0.25, 3, 4), single(1), longer(1.5L));
	printf("%lld %s %d\n", wide(-3000000000), text("hello", NULL), next(GREEN));
	printf("%d %d\n", swapped((struct pair){ 7, 8 }, 9).y, negative(5));
	printf("%d %d %d\n", registers(1, 2, 3, 4), fast(5, 6, 7), chosen(argc, "A", 3));
	printf("%zu %g %g\n", strlen("four"), pow(argc + 1, 3), ldexp(argc, 3));
	printf("%ld %lld %d\n", strtol("-12", NULL, 10), strtoll("-5000000000", NULL, 10),
	       div(7, 2).rem);
	return argv[argc] != NULL;
}
