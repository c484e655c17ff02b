/* SPDX-License-Identifier: MIT */
/* What a program sees of the memory probe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	int nr = 0;

	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, "libmcount-memory.so") != NULL && strstr(line, "r-xp") != NULL;
	printf("%d %s\n", nr, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
	return system("test -z \"$LD_PRELOAD\" && test -z \"$FTR_CHANNEL\"");
}
