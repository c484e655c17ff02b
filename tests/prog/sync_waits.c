/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for each other, each wait certain: who is waited for goes on only once the
 * waiting thread sleeps.  With the argument "free" nothing is ever waited for.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static atomic_int waiting_tid;
static bool is_signalled;
static int failures;

static void expect(int got, int wanted, const char *what)
{
	if (got != wanted) {
		printf("%s: %d, not %d\n", what, got, wanted);
		failures++;
	}
}

static struct timespec soon(clockid_t clock)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return until;
}

/* Until the thread that said that it is about to wait does. */
static void until_it_sleeps(void)
{
	char path[64], line[512], *state;
	FILE *file;
	int tid;

	while ((tid = atomic_load(&waiting_tid)) == 0)
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		usleep(2000);
		file = fopen(path, "r");
		state = file != NULL && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
		if (file != NULL)
			fclose(file);
	} while (state == NULL || state[2] != 'S');
	atomic_store(&waiting_tid, 0);
}

static void about_to_wait(void)
{
	atomic_store(&waiting_tid, (int)syscall(SYS_gettid));
}

NOINLINE void *wait_mutex(void *arg)
{
	about_to_wait();
	expect(pthread_mutex_lock(&mutex), 0, "mutex");
	expect(pthread_mutex_unlock(&mutex), 0, "mutex");
	return NULL;
}

NOINLINE void *wait_read(void *arg)
{
	about_to_wait();
	expect(pthread_rwlock_rdlock(&rwlock), 0, "read");
	expect(pthread_rwlock_unlock(&rwlock), 0, "read");
	return NULL;
}

NOINLINE void *wait_write(void *arg)
{
	about_to_wait();
	expect(pthread_rwlock_wrlock(&rwlock), 0, "write");
	expect(pthread_rwlock_unlock(&rwlock), 0, "write");
	return NULL;
}

NOINLINE void *wait_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	about_to_wait();
	while (!is_signalled)
		expect(pthread_cond_wait(&cond, &mutex), 0, "cond");
	pthread_mutex_unlock(&mutex);
	return NULL;
}

NOINLINE void *wait_sem(void *arg)
{
	about_to_wait();
	expect(sem_wait(&sem), 0, "sem");
	return NULL;
}

NOINLINE void *wait_barrier(void *arg)
{
	int ret;

	about_to_wait();
	ret = pthread_barrier_wait(&barrier);
	expect(ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD, 1, "barrier");
	return NULL;
}

static void unlock(void *arg)
{
	expect(pthread_mutex_unlock(arg), 0, "cleanup");
}

NOINLINE void *cancelled_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	about_to_wait();
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

/* Cancelled before it need wait: it is, all the same. */
NOINLINE void *cancelled_sem(void *arg)
{
	sem_t full;

	sem_init(&full, 0, 1);
	pthread_cancel(pthread_self());
	sem_wait(&full);
	return arg;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		exit(9);
	return thread;
}

NOINLINE void wait_join(pthread_t thread, void *wanted)
{
	void *answer = &answer;

	expect(pthread_join(thread, &answer), 0, "join");
	expect(answer == wanted, 1, "answer");
}

NOINLINE void each(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	thread = start(wait_mutex);
	until_it_sleeps();
	pthread_mutex_unlock(&mutex);
	wait_join(thread, NULL);

	pthread_rwlock_wrlock(&rwlock);
	thread = start(wait_read);
	until_it_sleeps();
	pthread_rwlock_unlock(&rwlock);
	wait_join(thread, NULL);

	pthread_rwlock_rdlock(&rwlock);
	thread = start(wait_write);
	until_it_sleeps();
	pthread_rwlock_unlock(&rwlock);
	wait_join(thread, NULL);

	thread = start(wait_cond);
	until_it_sleeps();
	/* It may sleep before it gives the mutex up, as when the recorder lets it wait. */
	while (pthread_mutex_trylock(&mutex) != 0)
		usleep(1000);
	is_signalled = true;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	wait_join(thread, NULL);

	thread = start(wait_sem);
	until_it_sleeps();
	sem_post(&sem);
	wait_join(thread, NULL);

	thread = start(wait_barrier);
	until_it_sleeps();
	wait_barrier(NULL);
	atomic_store(&waiting_tid, 0);
	wait_join(thread, NULL);
}

NOINLINE void cancellations(void)
{
	pthread_t thread = start(cancelled_cond);

	until_it_sleeps();
	pthread_cancel(thread);
	wait_join(thread, PTHREAD_CANCELED);
	wait_join(start(cancelled_sem), PTHREAD_CANCELED);
}

/* In vain, by each way to say until when. */
NOINLINE void timeouts(void)
{
	struct timespec real, mono;
	pthread_mutexattr_t attr;
	pthread_mutex_t checking;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &attr);
	expect(pthread_mutex_lock(&checking), 0, "checking");
	expect(pthread_mutex_lock(&checking), EDEADLK, "checking");
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	real = soon(CLOCK_REALTIME);
	expect(pthread_mutex_timedlock(&mutex, &real), ETIMEDOUT, "timedlock");
	expect(pthread_cond_timedwait(&cond, &mutex, &real), ETIMEDOUT, "timedwait");
	errno = 0;
	expect(sem_timedwait(&sem, &real), -1, "sem_timedwait");
	expect(errno, ETIMEDOUT, "errno");
	mono = soon(CLOCK_MONOTONIC);
	expect(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &mono), ETIMEDOUT, "clocklock");
	expect(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &mono), ETIMEDOUT,
	       "clockwait");
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
}

/* Nobody waits: all is taken at once. */
NOINLINE void uncontended(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t recursive;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	for (int i = 0; i < 1000; i++) {
		expect(pthread_mutex_lock(&recursive), 0, "recursive");
		expect(pthread_mutex_lock(&recursive), 0, "recursive");
		expect(pthread_mutex_trylock(&recursive), 0, "recursive");
		for (int n = 0; n < 3; n++)
			expect(pthread_mutex_unlock(&recursive), 0, "recursive");
		expect(pthread_rwlock_rdlock(&rwlock), 0, "rwlock");
		expect(pthread_rwlock_rdlock(&rwlock), 0, "rwlock");
		expect(pthread_rwlock_trywrlock(&rwlock), EBUSY, "rwlock");
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
}

static void *die_locked(void *robust)
{
	pthread_mutex_lock(robust);
	return NULL;
}

NOINLINE void robust(void)
{
	static pthread_mutex_t left;
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&left, &attr);
	pthread_create(&thread, NULL, die_locked, &left);
	wait_join(thread, NULL);
	expect(pthread_mutex_lock(&left), EOWNERDEAD, "robust");
	expect(pthread_mutex_unlock(&left), 0, "robust");
	expect(pthread_mutex_lock(&left), ENOTRECOVERABLE, "robust");
}

int main(int argc, char **argv)
{
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	uncontended();
	if (argc > 1 && strcmp(argv[1], "free") == 0)
		return failures;
	each();
	cancellations();
	timeouts();
	robust();
	printf("%d failures\n", failures);
	return failures;
}
