/* SPDX-License-Identifier: MIT */
/*
 * A thread that never asks the kernel for anything, and has all of its vector registers in use
 * while it is borrowed; at SIGTERM it ends with "wrong N".  "none": the machine has no such
 * registers.
 */
#include <signal.h>
#include <stdio.h>
#include <wide.h>

#define TURNS 100000

static volatile sig_atomic_t is_over;

static void on_signal(int signo)
{
	is_over = 1;
}

__attribute__((noinline)) int traced(int n)
{
	return n + 1;
}

int main(void)
{
	unsigned long wrong = 0;
	unsigned i;

	signal(SIGTERM, on_signal);
	puts(WIDE_IS_THERE() ? "ready" : "none");
	fflush(stdout);
	for (i = 1; !is_over && WIDE_IS_THERE(); i++) {
		wrong += !wide_stay((unsigned char)i, TURNS);
		wrong += traced((int)i) != (int)i + 1;
	}
	printf("wrong %lu\n", wrong);
	return wrong != 0;
}
