/* SPDX-License-Identifier: MIT */
/* Integers of 128 bits and complex numbers: the program says itself what it passes and gets. */
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))
/* Used, so that no compiler leaves it out. */
#define SEEN(value) ({ __asm__ volatile("" : : "r"(&(value)) : "memory"); })

/* clang's <complex.h> of C has no CMPLX() with glibc's. */
#define COMPLEX(real, imaginary) __builtin_complex(real, imaginary)

typedef __int128 wide;
typedef unsigned __int128 uwide;

struct number {
	char kind;
	wide value;
	uwide two[2];
};

struct waves {
	float complex f;
	double complex d;
};

struct floats {
	double a, b, c, d;
};

static const char *text_of(uwide value, int is_negative)
{
	static char texts[8][48];
	static unsigned turn;
	char *text = texts[turn++ % 8] + 47;

	if (is_negative)
		value = -value;
	*text = '\0';
	do
		*--text = '0' + (int)(value % 10);
	while (value /= 10);
	if (is_negative)
		*--text = '-';
	return text;
}

#define S(value) text_of((uwide)(value), (value) < 0)
#define U(value) text_of(value, 0)

KEEP wide sum(wide a, int b, uwide c)
{
	wide result = (wide)((uwide)a + (uwide)b + c);

	SEEN(a), SEEN(b), SEEN(c);
	printf("sum(%s, %d, %s) = %s\n", S(a), b, U(c), S(result));
	return result;
}

/* The first has one register left. */
KEEP uwide late(long a, long b, long c, long d, long e, uwide f, int g, wide h, short i)
{
	SEEN(a), SEEN(b), SEEN(c), SEEN(d), SEEN(e), SEEN(f), SEEN(g), SEEN(h), SEEN(i);
	printf("late(%ld, %ld, %ld, %ld, %ld, %s, %d, %s, %d) = %s\n", a, b, c, d, e, U(f), g, S(h), i,
	       U(~f));
	return ~f;
}

KEEP struct number number(struct number n, wide *p)
{
	SEEN(n), SEEN(p);
	printf("number({.kind = '%c', .value = %s, .two = {%s, %s}}, &%s) = ", n.kind, S(n.value),
	       U(n.two[0]), U(n.two[1]), S(*p));
	n.value = -n.value;
	printf("{.kind = '%c', .value = %s, .two = {%s, %s}}\n", n.kind, S(n.value), U(n.two[0]),
	       U(n.two[1]));
	return n;
}

#define RE(z) (long double)creall(z)
#define IM(z) (long double)cimagl(z)

KEEP float complex narrow(float complex a, int b)
{
	float complex result = conjf(a);

	SEEN(a), SEEN(b);
	printf("narrow(%Lf%+Lfi, %d) = %Lf%+Lfi\n", RE(a), IM(a), b, RE(result), IM(result));
	return result;
}

KEEP double complex middle(double complex a, float b, double complex c)
{
	SEEN(a), SEEN(b), SEEN(c);
	printf("middle(%Lf%+Lfi, %f, %Lf%+Lfi) = %Lf%+Lfi\n", RE(a), IM(a), b, RE(c), IM(c), RE(c), IM(c));
	return c;
}

/* The last is beyond the registers. */
KEEP double complex last(double complex a, double complex b, double complex c, double complex d,
			 double complex e, int f)
{
	SEEN(a), SEEN(b), SEEN(c), SEEN(d), SEEN(e), SEEN(f);
	printf("last(%Lf%+Lfi, %Lf%+Lfi, %Lf%+Lfi, %Lf%+Lfi, %Lf%+Lfi, %d) = %Lf%+Lfi\n", RE(a), IM(a), RE(b),
	       IM(b), RE(c), IM(c), RE(d), IM(d), RE(e), IM(e), f, RE(e), IM(e));
	return e;
}

KEEP long double complex long_one(long double complex a, int b, long double c)
{
	SEEN(a), SEEN(b), SEEN(c);
	printf("long_one(%Lf%+Lfi, %d, %Lf) = %Lf%+Lfi\n", RE(a), IM(a), b, c, RE(-a), IM(-a));
	return -a;
}

KEEP struct waves waves(struct waves w, struct waves *p, int n)
{
	SEEN(w), SEEN(p), SEEN(n);
	printf("waves({.f = %Lf%+Lfi, .d = %Lf%+Lfi}, &{.f = %Lf%+Lfi, .d = %Lf%+Lfi}, %d) = ", RE(w.f), IM(w.f), RE(w.d),
	       IM(w.d), RE(p->f), IM(p->f), RE(p->d), IM(p->d), n);
	w.f *= 2;
	printf("{.f = %Lf%+Lfi, .d = %Lf%+Lfi}\n", RE(w.f), IM(w.f), RE(w.d), IM(w.d));
	return w;
}

KEEP struct floats floats(struct floats f, int n)
{
	SEEN(f), SEEN(n);
	printf("floats({.a = %f, .b = %f, .c = %f, .d = %f}, %d) = {.a = %f, .b = %f, .c = %f, .d = %f}\n", f.a, f.b,
	       f.c, f.d, n, f.a, f.b, f.c, f.d);
	return f;
}

KEEP void wild(wide *a, double complex *b, const struct number *c)
{
	SEEN(a), SEEN(b), SEEN(c);
	printf("wild(%p, %p, %p)\n", (void *)a, (void *)b, (void *)c);
}

int main(void)
{
	const wide min = (wide)((uwide)1 << 127);
	struct number n = { 'n', min + 1, { 0, ~(uwide)0 } };
	struct waves w = { 1 - 2 * _Complex_I, 0.5 + 3 * _Complex_I };
	int i;

	sum(min, 0, 0);
	sum(-1, 1, ~(uwide)0);
	sum(~min, -1, (uwide)LONG_MAX + 1);
	sum(((wide)5 << 64) - 1, 7, (uwide)10000000000000000000u * 10);
	for (i = 0; i < 3; i++)
		late(i, 2, 3, 4, -5, ((uwide)1 << 64) * i + 6, 7, -((wide)1 << 100) * i, -8);
	number(n, &n.value);
	narrow(1.5f - 2.25f * _Complex_I, 2);
	narrow(COMPLEX(-0.0f, NAN), -2);
	middle(COMPLEX((double)INFINITY, -(double)INFINITY), 0.5f, COMPLEX(-1e9, 1e-5));
	last(1, 2, 3, 4, 5 - _Complex_I, 6);
	long_one(COMPLEX(1.25L, -3.0L), 2, 4.5L);
	long_one(COMPLEX(-(long double)INFINITY, 0.0L), -2, 1e10L);
	waves(w, &w, 3);
	floats((struct floats){ 1, -2, 3.5, 4 }, 5);
	wild((void *)0x10, (void *)-16L, (void *)0x8000000000000000);
	return 0;
}
