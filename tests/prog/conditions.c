/* SPDX-License-Identifier: MIT */
/*
 * taken() is called with integers of all sizes, some of which look like others where their sign or
 * size is not known, told() with texts, floats and arguments on the stack: what conditions of rules
 * choose of their calls (tests/e2e/filters.py).
 */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TRACED __attribute__((noinline, noclone))

static volatile long sink;

TRACED void leaf(void)
{
	sink++;
}

TRACED void taken(int a, unsigned b, signed char c, unsigned short d, long e)
{
	leaf();
	sink += a + c + d + e + b;
}

TRACED void between(int a, long e)
{
	taken(a, (unsigned)a, (signed char)a, (unsigned short)a, e);
	sink++;
}

TRACED void told(const char *text, double wide, float narrow, int c, int d, int e, int f, int g,
		 short h, unsigned long i, const char *j, signed char k)
{
	leaf();
	sink += c + d + e + f + g + h + (long)i + k + (wide > narrow) + (text != j);
}

static void tell_all(void)
{
	static const char *const texts[] = {
		"GET /index", "POST /", "", "GET", "GET ", "get it", "aXbXc", "a\xc3\xa9z", "?*",
		"ninety-eight characters and some more of them, which are cut off where they are too "
		"many to be recorded",
	};
	static const double reals[] = { 0.0, -0.0, 0.1, 1.5, -1.5, 2, 1e300, INFINITY, -INFINITY,
					NAN };
	unsigned nr = sizeof(texts) / sizeof(texts[0]);
	unsigned real_nr = sizeof(reals) / sizeof(reals[0]);

	for (unsigned i = 0; i < nr; i++) {
		char *copy = strdup(texts[i]), near[120];
		int n = (int)i - 4;

		strcpy(near, texts[nr - 1 - i]);
		told(texts[i], reals[i % real_nr], (float)reals[(i + 3) % real_nr], n, n, n, n, n,
		     (short)(n * 300), (unsigned long)n, near, (signed char)(n * 40));
		told(copy, 0.1, 0.1f, n, n, n, 7, n, (short)n, i, copy, (signed char)n);
		free(copy);
	}
	told(NULL, 3, 3, 1, 2, 3, 4, 5, 6, 7, (const char *)(uintptr_t)16, 0);
	told((const char *)INTPTR_MAX, 3, -3, 1, 2, 3, 4, -65000, 6, ULONG_MAX, NULL, -1);
}

int main(void)
{
	static const int values[] = { INT_MIN, -65536, -65535, -200, -2, -1, 0, 1, 2, 97, 127, 200,
				      65535, INT_MAX };
	unsigned i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		taken(values[i], 2, 3, 4, -1);
		between(values[i], values[sizeof(values) / sizeof(values[0]) - 1 - i]);
		taken(1, 0, (signed char)values[i], 65535, (long)values[i] * 65536);
	}
	tell_all();
	return 0;
}
