/* SPDX-License-Identifier: MIT */
/*
 * A program that is executed from memory (memfd_create) is traced; its functions have addresses
 * instead of names, with a warning.
 *
 * expect-calls: before_exec 1
 * expect-warning: runs a program from memory
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noinline, noclone)) void before_exec(int memory)
{
	int program = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	fstat(program, &st);
	sendfile(memory, program, NULL, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	char *args[] = { "program", "again", NULL };
	int memory;

	if (argc > 1)
		return puts("again") < 0;
	memory = memfd_create("program", MFD_CLOEXEC);
	before_exec(memory);
	fexecve(memory, args, environ);
	return 1;
}
