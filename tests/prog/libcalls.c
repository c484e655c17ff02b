/* SPDX-License-Identifier: MIT */
/*
 * Library calls: lazily and eagerly bound, variadic, with a callback, returning twice and never.
 *
 * again: --estimate-return
 * again: --nest-libcall
 * record: --no-randomize-addr
 * expect-status: 5
 * expect-calls: getpid 3
 * expect-calls: snprintf 2
 * expect-calls: qsort 1
 * expect-calls: compare 5
 * expect-calls: strtod 1
 * expect-calls: _setjmp 1
 * expect-calls: longjmp 1
 * expect-calls: exit 1
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf target;

NOINLINE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE void jump(void)
{
	longjmp(target, 3);
}

int main(void)
{
	int numbers[] = { 4, 1, 3, 2 };
	volatile int calls = 0;
	char text[100];

	for (int i = 0; i < 3; i++)
		calls += getpid() > 0;
	snprintf(text, sizeof(text), "%d %.3f %s %g", 1, 2.5, "three", 4e10);
	fputs(text, stdout);
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	snprintf(text, sizeof(text), " %d%d%d%d %g\n", numbers[0], numbers[1], numbers[2],
		 numbers[3], strtod("0.125", NULL));
	fputs(text, stdout);
	if (setjmp(target) == 0)
		jump();
	fflush(stdout);
	exit(calls + 2);
}
