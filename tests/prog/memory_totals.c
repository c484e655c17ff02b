/* SPDX-License-Identifier: MIT */
/* Requests whose sums valgrind tells, and 299 blocks that are lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *lost;
int main(void)
{
	char *text = strdup("some text"), *more = NULL;

	for (int i = 1; i < 300; i++) {
		more = realloc(more, i * 10);
		free(calloc(i, 3));
		lost = malloc(i);
	}
	lost = NULL;
	puts(text);
	free(text);
	free(more);
	return 0;
}
