/* SPDX-License-Identifier: MIT */
/* Library calls whose values ltrace shows, too. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	char *s = strdup("hello"), *p = strrchr(s, 'l');
	long n = strcmp(s, "help") + (long)strlen(s) + (p - s);

	n += (getenv("NO_SUCH_NAME") != NULL) + access("/nonexistent", 0);
	n += strncmp(s, "help", 3) + (strstr(s, "ll") - s) + abs(-5) + toupper('a');
	n += (long)strspn(s, "leh");
	free(s);
	return close(77) + n == 0;
}
