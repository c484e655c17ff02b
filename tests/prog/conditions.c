/* SPDX-License-Identifier: MIT */
/*
 * taken() is called with integers of all sizes, some of which look like others where their sign or
 * size is not known: what conditions of rules choose of its calls (tests/e2e/filters.py).
 */
#include <limits.h>

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
	return 0;
}
