/* SPDX-License-Identifier: MIT */
/* Some 970 calls, up to six deep, as often as the number given says: for tests/bench/page.py. */
#include <stdlib.h>

#define TRACED __attribute__((noinline))
#define STEPS_B 20
#define STEPS_C 60
#define ROUNDS	50

static volatile unsigned long sum;

TRACED static void leaf_a(unsigned long x)
{
	sum += x;
}

TRACED static void leaf_b(unsigned long x)
{
	for (int i = 0; i < STEPS_B; i++)
		sum ^= x;
}

TRACED static void leaf_c(unsigned long x)
{
	for (int i = 0; i < STEPS_C; i++)
		sum ^= x * 3;
}

TRACED static void middle(unsigned long x)
{
	leaf_a(x);
	leaf_b(x);
	if (x % 3 == 0)
		leaf_c(x);
	leaf_a(x + 1);
}

TRACED static void other(unsigned long x)
{
	for (int i = 0; i < 3; i++)
		middle(x + i);
	leaf_b(x);
}

TRACED static void batch(unsigned long x)
{
	for (int i = 0; i < ROUNDS; i++) {
		other(x + i);
		middle(x);
	}
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	for (unsigned long i = 0; i < nr; i++)
		batch(i);
	return 0;
}
