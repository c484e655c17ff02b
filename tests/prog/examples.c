/* SPDX-License-Identifier: MIT */
/* The functions that the examples of the manuals name. */
#include <stdlib.h>

#ifndef REQUESTS
#define REQUESTS 4
#endif

void *volatile block;

__attribute__((noinline)) int read_block(int nr, const char *name) { return nr + name[0]; }
__attribute__((noinline)) int query(int nr) { return nr * 2; }
__attribute__((noinline)) int open_db(void) { return 1; }
__attribute__((noinline)) void start(void) { __asm__ volatile (""); }
__attribute__((noinline)) void stop(void) { __asm__ volatile (""); }

__attribute__((noinline)) int parse(int nr)
{
	free(block = malloc(nr + 1));
	return nr % 2 ? -1 : read_block(nr, "block");
}

__attribute__((noinline)) int handle_request(int nr)
{
	start();
	nr = parse(nr) + query(nr);
	stop();
	return nr;
}

int main(void)
{
	int sum = open_db();

	for (int i = 0; i < REQUESTS; i++)
		sum += handle_request(i);
	return sum == 0;
}
