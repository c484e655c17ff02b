/* SPDX-License-Identifier: MIT */
/* For each line of standard input, a number: so many calls of step(), each with one of leaf(). */
#include <stdio.h>
#include <stdlib.h>

static volatile int sum;

__attribute__((noinline)) static void leaf(int i)
{
	sum += i;
}

__attribute__((noinline)) static void step(int i)
{
	leaf(i);
	sum++;				/* no tail call */
}

int main(void)
{
	char line[32];
	int i, nr;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		nr = atoi(line);
		for (i = 0; i < nr; i++)
			step(i);
	}
	printf("%d\n", sum);
	return 7;
}
