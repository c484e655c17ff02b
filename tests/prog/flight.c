/* SPDX-License-Identifier: MIT */
/*
 * Much work, with moments in it that tests/e2e/flight.py looks for.  Each word on the command line
 * is a moment: "mark" a call of that name, "ask" a signal to ftr, "again" another one, "abort" the
 * end, a number a call with values, of which that with 7 takes long.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CALLS 100000
#define PAUSE_US 200000		/* for a slow recorder, which would find what is asked for gone */

static volatile int sink;
static jmp_buf back;

NOINLINE void leaf(int n)
{
	sink += n;
}

NOINLINE void mark(void)
{
	sink++;
}

NOINLINE void asked(void)
{
	sink++;
}

NOINLINE long judged(int n, double half, const char *text)
{
	sink += n + (int)half + text[0];
	if (n == 7)
		usleep(20000);
	return n - 5;
}

/* Is left by a jump where judged returned more than 0. */
NOINLINE long left(int n)
{
	sink++;
	if (n > 0)
		longjmp(back, 1);
	return n;
}

NOINLINE void work(void)
{
	for (int i = 0; i < CALLS; i++)
		leaf(i);
}

/* Has ftr, our parent, not read the signal yet? */
static __attribute__((no_instrument_function)) int is_pending(int signo)
{
	unsigned long long set = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "ShdPnd: %llx", &set) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return (set >> (signo - 1) & 1) != 0;
}

/* What it does is to be done before we go on. */
static __attribute__((no_instrument_function)) void ask(int signo)
{
	asked();
	kill(getppid(), signo);
	do
		usleep(200000);
	while (is_pending(signo));
}

int main(int argc, char **argv)
{
	work();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "mark") == 0)
			mark();
		if (strcmp(argv[i], "ask") == 0)
			ask(SIGUSR1);
		if (strcmp(argv[i], "again") == 0)
			ask(SIGUSR2);
		if (strcmp(argv[i], "abort") == 0)
			abort();
		if (atoi(argv[i]) > 0) {
			if (setjmp(back) == 0)
				left((int)judged(atoi(argv[i]), atoi(argv[i]) / 2.0, argv[i]));
			usleep(PAUSE_US);
		}
		work();
	}
	return 0;
}
