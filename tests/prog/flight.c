/* SPDX-License-Identifier: MIT */
/*
 * Much work, with moments in it that tests/e2e/flight.py looks for.  Each word on the command line
 * is a moment: "mark" a call of that name, "ask" a signal to ftr, "again" another one, "abort" the
 * end.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CALLS 100000

static volatile int sink;

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
		work();
	}
	return 0;
}
