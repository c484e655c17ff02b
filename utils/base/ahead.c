/* SPDX-License-Identifier: MIT */
/* See ahead.h: one lock; it is taken twice for each piece, which is large. */
#include "utils/base/ahead.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#define PLACES_PER_THREAD 2

/* What lies in a place: piece @i, done or being done. */
struct place {
	size_t i;
	bool is_used, is_done;
};

struct ftr_ahead {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(void *arg, size_t place, size_t i);
	void *arg;
	size_t nr;
	size_t next;		/* first piece that nobody has begun */
	size_t floor;		/* pieces below are not wanted any more */
	bool is_ending;
	unsigned thread_nr;	/* without the caller's */
	pthread_t threads[FTR_AHEAD_THREADS_MAX];
	size_t place_nr;
	struct place places[FTR_AHEAD_THREADS_MAX * PLACES_PER_THREAD];
};

unsigned ftr_ahead_processors(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return 1;
	return (unsigned)CPU_COUNT(&cpus);
}

static unsigned threads_bound(unsigned thread_nr)
{
	return thread_nr > FTR_AHEAD_THREADS_MAX ? FTR_AHEAD_THREADS_MAX : thread_nr;
}

size_t ftr_ahead_places(unsigned thread_nr)
{
	return (size_t)threads_bound(thread_nr) * PLACES_PER_THREAD;
}

/* May the next piece be begun, and is its place free?  A piece passed over may be at work there. */
static bool may_begin(const struct ftr_ahead *ahead)
{
	const struct place *place = &ahead->places[ahead->next % ahead->place_nr];

	return ahead->next < ahead->nr && ahead->next < ahead->floor + ahead->place_nr &&
	       (!place->is_used || (place->is_done && place->i < ahead->floor));
}

/* Do the next piece; the lock is held before and after. */
static void piece_do(struct ftr_ahead *ahead)
{
	size_t i = ahead->next++;
	size_t at = i % ahead->place_nr;

	ahead->places[at] = (struct place){ .i = i, .is_used = true };
	pthread_mutex_unlock(&ahead->lock);
	ahead->work(ahead->arg, at, i);
	pthread_mutex_lock(&ahead->lock);
	ahead->places[at].is_done = true;
	pthread_cond_broadcast(&ahead->changed);
}

static void *thread_run(void *arg)
{
	struct ftr_ahead *ahead = arg;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->is_ending) {
		if (may_begin(ahead))
			piece_do(ahead);
		else
			pthread_cond_wait(&ahead->changed, &ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

static int threads_start(struct ftr_ahead *ahead, unsigned thread_nr)
{
	sigset_t all, old;
	int code = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (code == 0 && ahead->thread_nr + 1 < thread_nr) {
		code = pthread_create(&ahead->threads[ahead->thread_nr], NULL, thread_run, ahead);
		ahead->thread_nr += code == 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ahead->thread_nr > 0 ? 0 : -code;	/* a few are enough */
}

int ftr_ahead_new(struct ftr_ahead **out, unsigned thread_nr, size_t nr,
		  void (*work)(void *arg, size_t place, size_t i), void *arg)
{
	struct ftr_ahead *ahead = calloc(1, sizeof(*ahead));
	int ret;

	assert(thread_nr >= 2);
	if (ahead == NULL)
		return -ENOMEM;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	ahead->work = work;
	ahead->arg = arg;
	ahead->nr = nr;
	ahead->place_nr = ftr_ahead_places(thread_nr);
	ret = threads_start(ahead, threads_bound(thread_nr));
	if (ret < 0)
		ftr_ahead_free(ahead);
	else
		*out = ahead;
	return ret;
}

size_t ftr_ahead_take(struct ftr_ahead *ahead, size_t i)
{
	size_t at = i % ahead->place_nr;

	assert(i < ahead->nr && i >= ahead->floor);
	pthread_mutex_lock(&ahead->lock);
	ahead->floor = i;
	if (ahead->next < i)
		ahead->next = i;
	if (may_begin(ahead))
		pthread_cond_broadcast(&ahead->changed);
	while (!ahead->places[at].is_done || ahead->places[at].i != i) {
		if (may_begin(ahead))
			piece_do(ahead);
		else
			pthread_cond_wait(&ahead->changed, &ahead->lock);
	}
	pthread_mutex_unlock(&ahead->lock);
	return at;
}

void ftr_ahead_add(struct ftr_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	if (ahead->nr >= ahead->place_nr) {
		size_t given_up = ahead->nr - ahead->place_nr;

		assert(ahead->floor >= given_up);
		if (ahead->floor == given_up)
			ahead->floor++;
	}
	ahead->nr++;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

void ftr_ahead_free(struct ftr_ahead *ahead)
{
	if (ahead == NULL)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->is_ending = true;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned i = 0; i < ahead->thread_nr; i++)
		pthread_join(ahead->threads[i], NULL);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}
