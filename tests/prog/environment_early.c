/* SPDX-License-Identifier: MIT */
/*
 * Constructors, of a library, too, find the arguments and the environment that they find untraced,
 * and libc is set up for them in time.
 *
 * only: pg-O2 pg-O1-nopie fentry-O2 cyg-O2 clang-pg-O2
 * libraries: environment_library
 * record: --force
 * again: --no-libcall
 * again: --nest-libcall
 * args: one two
 * expect-calls: look 2
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

void library_look(const char *who);

#ifdef LIBRARY
static int library_argc;
static int library_envp;

__attribute__((constructor)) static void library_constructed(int argc, char **argv, char **envp)
{
	library_argc = argc;
	library_envp = envp != NULL && envp == environ;
	if (getenv("PATH") == NULL)
		library_envp = -1;
}

void library_look(const char *who)
{
	printf("%s: %d %d\n", who, library_argc, library_envp);
}
#else
static NOINLINE void look(const char *who, int argc, char **argv, char **envp)
{
	printf("%s: %d %s %d %d\n", who, argc, argv != NULL ? argv[argc - 1] : "none",
	       envp == environ, getenv("PATH") != NULL);
}

__attribute__((constructor)) static void constructed(int argc, char **argv, char **envp)
{
	look("program", argc, argv, envp);
}

int main(int argc, char **argv, char **envp)
{
	look("main", argc, argv, envp);
	library_look("library");
	return strcmp(program_invocation_short_name, "prog");
}
#endif
