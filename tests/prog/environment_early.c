/* SPDX-License-Identifier: MIT */
/*
 * Constructors, of a library, too, find the arguments and the environment that they find untraced,
 * and libc is set up for them in time.  So do those who walk environ by hand, or through it to the
 * auxiliary vector, and all programs that are started in any way, with variables of their own in
 * the place of those that start the runtime, or without.
 *
 * only: pg-O2 pg-O1-nopie fentry-O2 cyg-O2 clang-pg-O2
 * libraries: environment_library
 * record: --force
 * again: --no-libcall
 * again: --nest-libcall
 * args: one two
 * expect-calls: look 8
 * expect-calls: walk 4
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
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

/* As runtimes of other languages do it, which find it behind the environment. */
static NOINLINE void walk(char **envp)
{
	ElfW(auxv_t) *aux;

	for (; *envp != NULL; envp++)
		puts(*envp);
	for (aux = (ElfW(auxv_t) *)(envp + 1); aux->a_type != AT_NULL; aux++) {
		if (aux->a_type != AT_IGNORE && aux->a_un.a_val != getauxval(aux->a_type))
			printf("not the same: %lu\n", (unsigned long)aux->a_type);
		if (aux->a_type == AT_PAGESZ || aux->a_type == AT_SYSINFO_EHDR)
			printf("found: %lu\n", (unsigned long)aux->a_type);
	}
	fflush(stdout);
}

static void show(FILE *file)
{
	int c;

	while ((c = getc(file)) != EOF)
		putchar(c);
	pclose(file);
	fflush(stdout);
}

static void start_others(char **argv)
{
	char *mine[] = { "LD_PRELOAD=", "A=b", "ASAN_OPTIONS=detect_leaks=0", "PATH=/bin", NULL };
	char *none[] = { "PATH=/bin", NULL };
	char *again[] = { argv[0], NULL }, *env[] = { "env", NULL };
	pid_t pid;

	if (fork() == 0)
		execve("/proc/self/exe", again, mine);
	wait(NULL);
	posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, none);
	wait(NULL);
	posix_spawnp(&pid, "env", NULL, NULL, env, mine);
	wait(NULL);
	system("env");
	show(popen("env", "r"));
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	if (fork() == 0)
		execv("/proc/self/exe", again);
	wait(NULL);
}

int main(int argc, char **argv, char **envp)
{
	look("main", argc, argv, envp);
	library_look("library");
	walk(envp);
	if (argc > 1)
		start_others(argv);
	return strcmp(program_invocation_short_name, "prog");
}
#endif
