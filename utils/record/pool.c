/* SPDX-License-Identifier: MIT */
/* See pool.h. */
#include "utils/record/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct worker {
	struct ftr_pool *pool;
	pthread_t thread;
	unsigned nr;
};

struct ftr_pool {
	pthread_mutex_t lock;
	pthread_cond_t begin, done;
	unsigned round;			/* grows with each run */
	unsigned busy_nr;		/* workers that have not finished it */
	bool is_ending;
	void (*fn)(void *arg, unsigned worker, size_t i);
	void *arg;
	size_t nr;
	atomic_size_t next;		/* first piece not taken */
	unsigned worker_nr;		/* without the caller */
	struct worker workers[FTR_POOL_THREADS_MAX];
};

static void pieces_take(struct ftr_pool *pool, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add(&pool->next, 1)) < pool->nr)
		pool->fn(pool->arg, worker, i);
}

static void *worker_run(void *arg)
{
	struct worker *worker = arg;
	struct ftr_pool *pool = worker->pool;
	unsigned round = 0;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->round == round && !pool->is_ending)
			pthread_cond_wait(&pool->begin, &pool->lock);
		if (pool->is_ending)
			break;
		round = pool->round;
		pthread_mutex_unlock(&pool->lock);
		pieces_take(pool, worker->nr);
		pthread_mutex_lock(&pool->lock);
		if (--pool->busy_nr == 0)
			pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int ftr_pool_open(struct ftr_pool **out, unsigned nr, struct ftr_err *err)
{
	struct ftr_pool *pool = calloc(1, sizeof(*pool));
	sigset_t all, old;
	int code = 0;

	if (pool == NULL)
		return ftr_err_set(err, ENOMEM, "threads: out of memory");
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->begin, NULL);
	pthread_cond_init(&pool->done, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (code == 0 && pool->worker_nr + 1 < nr &&
	       pool->worker_nr + 1 < FTR_POOL_THREADS_MAX) {
		struct worker *worker = &pool->workers[pool->worker_nr];

		*worker = (struct worker){ .pool = pool, .nr = pool->worker_nr + 1 };
		code = pthread_create(&worker->thread, NULL, worker_run, worker);
		pool->worker_nr += code == 0;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code != 0) {
		ftr_pool_close(pool);
		return ftr_err_set(err, code, "threads: %s", strerror(code));
	}
	*out = pool;
	return 0;
}

void ftr_pool_close(struct ftr_pool *pool)
{
	unsigned i;

	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->is_ending = true;
	pthread_cond_broadcast(&pool->begin);
	pthread_mutex_unlock(&pool->lock);
	for (i = 0; i < pool->worker_nr; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_cond_destroy(&pool->begin);
	pthread_cond_destroy(&pool->done);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void ftr_pool_run(struct ftr_pool *pool, void (*fn)(void *arg, unsigned worker, size_t i),
		  void *arg, size_t nr)
{
	pthread_mutex_lock(&pool->lock);
	pool->fn = fn;
	pool->arg = arg;
	pool->nr = nr;
	atomic_store(&pool->next, 0);
	pool->busy_nr = pool->worker_nr;
	pool->round++;
	pthread_cond_broadcast(&pool->begin);
	pthread_mutex_unlock(&pool->lock);
	pieces_take(pool, 0);
	pthread_mutex_lock(&pool->lock);
	while (pool->busy_nr != 0)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}
