/* SPDX-License-Identifier: MIT */
/* A program with an allocator of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char heap[1 << 20];
static size_t used;
static int calls;

void *malloc(size_t bytes)
{
	calls++;
	used += (bytes + 31) & ~15ul;
	return heap + used - ((bytes + 31) & ~15ul);
}

void free(void *block)
{
}

void *calloc(size_t nr, size_t bytes)
{
	return memset(malloc(nr * bytes), 0, nr * bytes);
}

void *realloc(void *block, size_t bytes)
{
	void *more = malloc(bytes);

	return block != NULL ? memcpy(more, block, bytes) : more;
}

int main(void)
{
	char *text = strdup("mine");
	printf("%s %d\n", text, calls);
	return 0;
}
