/* SPDX-License-Identifier: MIT */
/* Asks for memory and gives it back: allocations ROUNDS, of 32 blocks of 16 to 515 bytes each. */
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 32

__attribute__((noinline)) static char *block_take(size_t bytes)
{
	char *block = malloc(bytes);

	if (block == NULL)
		exit(1);
	*block = 1;
	return block;
}

__attribute__((noinline)) static unsigned round_make(unsigned random)
{
	char *blocks[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		random = random * 1103515245u + 12345u;
		blocks[i] = block_take(16 + (random >> 16) % 500);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return random;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 30000;
	unsigned random = 1;

	while (rounds-- > 0)
		random = round_make(random);
	return printf("%u\n", random) < 0;
}
