/* SPDX-License-Identifier: MIT */
/*
 * What attach_exec.c starts: writes the environment that the kernel gave it, as its own code finds
 * it, into the file that it is given, and makes a call that is in the trace if it is traced.
 */
#include <stdio.h>

extern char **environ;

__attribute__((noinline, noclone)) int in_target(int nr)
{
	__asm__ volatile("");
	return nr + 1;
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "a");
	char **at;

	if (file == NULL)
		return 1;
	for (at = environ; *at != NULL; at++)
		fprintf(file, "%s\n", *at);
	fputs("end\n", file);
	return fclose(file) != 0 || in_target(1) != 2;
}
