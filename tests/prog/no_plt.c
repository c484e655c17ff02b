/* SPDX-License-Identifier: MIT */
/*
 * Library calls without a PLT: in a loop, as the last call of a function, of what may not be there,
 * with a callback, and of functions whose addresses are looked at, which are left alone.
 *
 * clang reads an address before a loop and calls by the register: such a function is one of them.
 *
 * cflags: -fno-plt
 * not: clang-pg-O2 clang-cyg-O2 clang-patch-O2 clang-plain-O2 clang-xray-O2
 * again: --estimate-return
 * record: --no-randomize-addr
 * expect-calls: getpid 20
 * expect-calls: getppid 2
 * expect-calls: qsort 1
 * expect-calls: compare 5
 * expect-calls: strtod 1
 * expect-calls: taken 1
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

extern void not_there(void) __attribute__((weak));

static int (*volatile kept)(const char *);
static int (*volatile other)(int);

NOINLINE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The call is a jump where it can be. */
NOINLINE pid_t last(void)
{
	return getppid();
}

NOINLINE double number(const char *text)
{
	return strtod(text, NULL);
}

/* Called and taken, and taken alone: their addresses are those that the dynamic linker knows. */
NOINLINE int taken(int n)
{
	kept = atoi;
	other = toupper;
	return kept("-3") == atoi("-3") ? n : -n;
}

int main(void)
{
	int numbers[] = { 4, 1, 3, 2 };
	int same = 0;

	for (int i = 0; i < 20; i++)
		same += getpid() > 0;
	same += last() == last();
	if (not_there != NULL)
		not_there();
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	printf("%d %d%d%d%d %g %d\n", same, numbers[0], numbers[1], numbers[2], numbers[3],
	       number("0.125"), taken(7));
	printf("%d %d\n", (void *)kept == dlsym(RTLD_DEFAULT, "atoi"),
	       (void *)other == dlsym(RTLD_DEFAULT, "toupper"));
	return 0;
}
