/* SPDX-License-Identifier: MIT */
/*
 * values WHAT REPS - what a call of a function that does nothing costs, in ticks of the processor's
 * counter: the least, the lower quartile and the median of REPS repetitions of 64 calls.
 *
 *	none: no values		ints: three integers	ret: an integer back
 *	cstr: a literal		heap: a string on the heap
 *
 *	gcc -O2 -pg -mfentry -o values values.c
 *	ftr record -A ints@arg1,arg2,arg3 ./values ints 20000
 *	ftr record -A cstr@arg1/s ./values cstr 20000
 *	ftr record -R ret@retval ./values ret 20000
 *	ftr record -t 1s ./values none 20000
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACED __attribute__((noinline, noclone))
#define UNTRACED __attribute__((noinline, no_instrument_function))
#define CALLS 64

TRACED void none(void)
{
	__asm__ volatile("");
}

TRACED void ints(int a, int b, int c)
{
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c));
}

TRACED void cstr(const char *s)
{
	__asm__ volatile("" : : "r"(s));
}

TRACED int ret(int a)
{
	__asm__ volatile("" : "+r"(a));
	return a;
}

static UNTRACED void calls(char what, const char *heap)
{
	int i;

	for (i = 0; i < CALLS; i++) {
		if (what == 'i')
			ints(i, 2, 3);
		else if (what == 'c')
			cstr("a string constant..");
		else if (what == 'h')
			cstr(heap);
		else if (what == 'r')
			ret(i);
		else
			none();
	}
}

static UNTRACED int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

UNTRACED int main(int argc, char **argv)
{
	int nr = argc == 3 ? atoi(argv[2]) : 0, i;
	char *heap = strdup("a string on the heap");
	double *ticks = calloc((size_t)nr + 1, sizeof(*ticks));

	if (nr < 4 || ticks == NULL || heap == NULL)
		return 2;
	for (i = 0; i < nr; i++) {
		uint64_t start = __builtin_ia32_rdtsc();

		calls(argv[1][0], heap);
		ticks[i] = (double)(__builtin_ia32_rdtsc() - start) / CALLS;
	}
	qsort(ticks, (size_t)nr, sizeof(*ticks), compare);
	printf("%s: %.1f %.1f %.1f\n", argv[1], ticks[0], ticks[nr / 4], ticks[nr / 2]);
	return 0;
}
