/* SPDX-License-Identifier: MIT */
/*
 * unwound backtrace|libunwind|handler|stop - who called whom, as something that walks the stack
 * sees it, from three traced functions, one of them through a tail call.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")
#define UNTRACED __attribute__((no_instrument_function))

/* Names of our own functions only: "./unwound(outer+0x12) [0x...]". */
UNTRACED static void by_backtrace(void)
{
	void *trace[64];
	int nr = backtrace(trace, 64), i;
	char **names = backtrace_symbols(trace, nr);

	for (i = 0; i < nr; i++) {
		char *open = strchr(names[i], '('), *plus = open != NULL ? strchr(open, '+') : NULL;

		if (plus != NULL && strncmp(names[i], "./unwound", 9) == 0)
			printf("%.*s\n", (int)(plus - open - 1), open + 1);
	}
	free(names);
}

#ifdef HAVE_LIBUNWIND
UNTRACED static void by_libunwind(void)
{
	char name[100];
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t offset;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (unw_step(&cursor) > 0) {
		if (unw_get_proc_name(&cursor, name, sizeof(name), &offset) == 0)
			puts(name);
	}
}
#endif

UNTRACED static void on_signal(int sig)
{
	by_backtrace();
}

NOINLINE void leaf(const char *how)
{
	if (strcmp(how, "backtrace") == 0)
		by_backtrace();
#ifdef HAVE_LIBUNWIND
	else if (strcmp(how, "libunwind") == 0)
		by_libunwind();
#endif
	else if (strcmp(how, "handler") == 0)
		raise(SIGUSR1);
	else
		raise(SIGUSR2);		/* where the debugger stops */
	KEEP();
}

NOINLINE void inner(const char *how)
{
	leaf(how);
	KEEP();
}

/* A tail call with optimisation: then outer is not there untraced, either. */
NOINLINE void outer(const char *how)
{
	inner(how);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, SIG_IGN);
	outer(argc > 1 ? argv[1] : "backtrace");
	outer("none");
	return 0;
}
