/* SPDX-License-Identifier: MIT */
/*
 * The first call into a library, and that of a thread, have their arguments in vector registers:
 * what the recorder is asked or told then leaves them alone.  With "kill" there is none to be asked
 * (tests/e2e/record_hostile.py).
 *
 * not: nop-O2-nopie
 * plugins: FLOATS
 * cflags: -ldl -pthread
 * expect-calls: FLOATS_add 1
 * expect-calls: thread_add 1
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNTRACED __attribute__((no_instrument_function, patchable_function_entry(0)))
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* In all of the registers there are: 36 times the first, if they are as they were. */
#define PARAMETERS double a, double b, double c, double d, double e, double f, double g, double h
#define SUM (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h)
#define ARGUMENTS(x) x, x, x, x, x, x, x, x

#ifdef PLUGIN

NOINLINE double JOIN(PLUGIN, _add)(PARAMETERS)
{
	__asm__ volatile("");
	return SUM;
}

#else

NOINLINE double thread_add(PARAMETERS)
{
	__asm__ volatile("");
	return SUM;
}

static UNTRACED void *run(void *arg)
{
	double *sum = arg;

	*sum = thread_add(ARGUMENTS(0.5));
	return NULL;
}

/* What would be traced is called by the thread alone. */
int UNTRACED main(int argc, char **argv)
{
	void *plugin = dlopen("./FLOATS.so", RTLD_NOW);
	double (*add)(PARAMETERS) = plugin != NULL ?
		(double (*)(PARAMETERS))dlsym(plugin, "FLOATS_add") : NULL;
	double sum = 0;
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "kill") == 0) {
		kill(getppid(), SIGKILL);
		usleep(300000);
	}
	if (pthread_create(&thread, NULL, run, &sum) != 0)
		return 1;
	pthread_join(thread, NULL);
	printf("%g %g\n", sum, add != NULL ? add(ARGUMENTS(0.25)) : -1);
	return 0;
}

#endif
