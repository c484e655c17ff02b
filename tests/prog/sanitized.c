/* SPDX-License-Identifier: MIT */
/*
 * A program built with AddressSanitizer runs and is traced; what it finds, it finds.
 *
 * cflags: -fsanitize=address
 * not: clang-xray-O2
 * expect-calls: work 3
 * expect-calls: main 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline, noclone)) int work(int n)
{
	char *p = malloc((size_t)n);
	int ret;

	memset(p, n, (size_t)n);
	ret = p[n - 1];
	free(p);
	return ret;
}

int main(void)
{
	printf("%d %d %d\n", work(1), work(2), work(30));
	return 0;
}
