/* SPDX-License-Identifier: MIT */
/*
 * For ftr top: rounds of calls, ten each second or fewer, whose numbers are known.  Arguments:
 * rounds (0: until SIGTERM).  Exit status 3.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUND_NS 100000000
#define NOINLINE __attribute__((noinline))

static volatile unsigned long sum;
static volatile sig_atomic_t is_ending;

static void on_signal(int signo)
{
	is_ending = 1;
}

NOINLINE void leaf(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		sum += i;
}

NOINLINE void heavy(void)
{
	for (int i = 0; i < 20; i++)
		leaf(100000);
}

NOINLINE void light(void)
{
	leaf(1);
	sum++;				/* no tail call */
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	const struct timespec pause = { .tv_nsec = ROUND_NS };

	signal(SIGTERM, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("begins");
	for (unsigned i = 0; !is_ending && (rounds == 0 || i < rounds); i++) {
		heavy();
		light();
		nanosleep(&pause, NULL);
	}
	puts("ends");
	return 3;
}
