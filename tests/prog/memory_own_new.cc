/* SPDX-License-Identifier: MIT */
/* A program with operators new and delete of its own. */
#include <cstdio>
#include <cstdlib>
#include <new>

static int news;

void *operator new(std::size_t bytes)
{
	news++;
	return malloc(bytes + 16);
}

void operator delete(void *block) noexcept
{
	free(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	free(block);
}

int *volatile kept;
int main()
{
	for (int i = 0; i < 5; i++) {
		kept = new int(i);
		delete kept;
	}
	printf("%d\n", news);
	return 0;
}
