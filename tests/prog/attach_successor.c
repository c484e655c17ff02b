/* SPDX-License-Identifier: MIT */
/*
 * At SIGUSR1 a thread ends in the midst of calls, and its successor, which gets its stack, is in
 * calls at the same places: what the first one left open is not what the second one returns to.
 * Others live on between them, so that there is no room of a dead thread to be had at once.  It
 * ends at SIGTERM with "wrong N": calls that did not come back to where they were made.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noipa))
#endif
#define PLAIN __attribute__((no_instrument_function))
#define OTHERS 25

static atomic_int is_over, begun, have_begun, wrong;
static __thread int own;

CALL static void stay(int ends)
{
	begun++;
	while (!is_over && !(ends && have_begun))
		usleep(1000);
	if (ends)
		syscall(SYS_exit, 0);
}

CALL static int first(void)
{
	stay(1);
	return 1;
}

CALL static int second(void)
{
	stay(0);
	return 2;
}

static PLAIN void *first_main(void *arg)
{
	own = 1;
	wrong += first() != own;
	return NULL;
}

static PLAIN void *second_main(void *arg)
{
	own = 2;
	wrong += second() != own;
	return NULL;
}

static PLAIN void on_signal(int signo)
{
	is_over = 1;
}

static PLAIN void start(pthread_t *thread, void *(*run)(void *arg))
{
	int nr = begun;

	pthread_create(thread, NULL, run, NULL);
	while (begun == nr)
		usleep(1000);
}

PLAIN int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[OTHERS], dead, next;
	sigset_t usr1;
	int i, signo;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigaction(SIGTERM, &action, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&usr1, &signo);
	start(&dead, first_main);
	for (i = 0; i < OTHERS; i++)
		start(&threads[i], second_main);
	have_begun = 1;
	pthread_join(dead, NULL);
	start(&next, second_main);
	puts("done");
	fflush(stdout);
	while (!is_over)
		usleep(1000);
	for (i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(next, NULL);
	printf("wrong %d\n", wrong);
	return wrong != 0;
}
