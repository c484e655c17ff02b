/* SPDX-License-Identifier: MIT */
/* Three functions; with an argument it stays. */
#include <stdio.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE int leaf(int n) { __asm__ volatile("nop; nop; nop; nop"); return n + 1; }
NOINLINE int inner(int n) { return leaf(n) + leaf(n + 1); }
int main(int argc, char **argv)
{
	printf("%d\n", inner(argc));
	fflush(stdout);
	return argc > 1 ? pause() : 0;
}
