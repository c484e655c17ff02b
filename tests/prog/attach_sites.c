/* SPDX-License-Identifier: MIT */
/*
 * Threads that come by the events of sdt_sites.c (compiled with -Dmain=sites_main) again and
 * again, until SIGTERM: "wrong N" times they computed something else than what they compute alone,
 * and "counter N" is how many are interested in sites:counted at the end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 3

long site_calls(long), site_jumps(long), site_ends(long), site_loops(long), site_several(long);
long site_near(long), site_into(long), site_counted(void);
extern uint16_t site_counter;

static atomic_int is_over;
static atomic_ulong wrong;

static void on_signal(int signo)
{
	is_over = 1;
}

static long all(void)
{
	return site_calls(10) + site_jumps(0) * 3 + site_jumps(1) * 5 + site_ends(5) * 7 +
	       site_loops(3) * 11 + site_several(1) * 13 + site_near(5) * 17 + site_into(5) * 19 +
	       site_counted() * 23;
}

static void *run(void *arg)
{
	long first = *(long *)arg;

	while (!is_over) {
		wrong += all() != first;
		usleep(200);	/* tests read all of them */
	}
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[THREADS];
	long first = all();
	int i;

	sigaction(SIGTERM, &action, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &first);
	puts("ready");
	fflush(stdout);
	while (!is_over)
		usleep(1000);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong %lu\ncounter %d\n", wrong, site_counter);
	return wrong != 0;
}
