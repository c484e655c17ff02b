/* SPDX-License-Identifier: MIT */
/* Sends blocks of rows to a database, several at a time. */
#include "utils/fleet/sender.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/base/gzip.h"
#include "utils/base/ostream.h"
#include "utils/fleet/http.h"
#include "utils/fleet/tables.h"

#define THREADS_MAX 16u

struct sender {
	struct sender_options options;
	pthread_t threads[THREADS_MAX];
	struct ftr_http *https[THREADS_MAX];	/* (owned) one a thread */
	unsigned thread_nr;

	pthread_mutex_t lock;			/* of all below */
	pthread_cond_t changed;
	struct sender_block *waiting[THREADS_MAX];
	unsigned waiting_nr, sending_nr;
	unsigned next_http;
	bool is_closed;				/* no block will follow */
	uint32_t next_block;
	FTR_VEC(uint32_t) arrived;
	struct ftr_err err;			/* the first failure; code 0 = none */
};

void sender_block_free(struct sender_block *block)
{
	if (block == NULL)
		return;
	free(block->rows);
	ftr_vec_fini(&block->starts);
	free(block);
}

static uint32_t number_block(struct sender *sender, struct sender_block *block)
{
	uint32_t number;

	pthread_mutex_lock(&sender->lock);
	number = sender->next_block++;
	pthread_mutex_unlock(&sender->lock);
	for (size_t i = 0; i < block->starts.nr; i++) {
		uint8_t *prefix = (uint8_t *)block->rows + block->starts.v[i];

		ftr_put_u64(prefix, sender->options.load, false);
		ftr_put_u32(prefix + 8, number, false);
	}
	return number;
}

/* One attempt. */
static enum ftr_http_outcome send_rows(struct sender *sender, struct ftr_http *http,
				       const struct sender_block *block, const char *sql,
				       struct ftr_err *err)
{
	struct ftr_http_body body = { block->rows, block->len, false };
	struct ftr_ostream packed;
	struct ftr_gzip *gzip;
	enum ftr_http_outcome outcome;

	if (!sender->options.is_gzip)
		return ftr_http_send(http, sql, &body, NULL, err);
	ftr_ostream_to_memory(&packed);
	gzip = ftr_gzip_new(&packed, FTR_GZIP_FAST);
	if (gzip != NULL)
		ftr_gzip_put(gzip, block->rows, block->len);
	ftr_gzip_finish(gzip);
	body = (struct ftr_http_body){ packed.buf, packed.len, true };
	if (gzip == NULL || packed.code != 0) {
		ftr_err_set(err, ENOMEM, "out of memory");
		outcome = FTR_HTTP_REFUSED;
	} else {
		outcome = ftr_http_send(http, sql, &body, NULL, err);
	}
	ftr_ostream_close(&packed, NULL);
	return outcome;
}

static bool has_failed(struct sender *sender)
{
	bool failed;

	pthread_mutex_lock(&sender->lock);
	failed = sender->err.code != 0;
	pthread_mutex_unlock(&sender->lock);
	return failed;
}

static int send_block(struct sender *sender, struct ftr_http *http, struct sender_block *block,
		      uint32_t *number, struct ftr_err *err)
{
	enum ftr_http_outcome outcome;
	struct ftr_strbuf sql;
	unsigned attempt = 0;

	ftr_strbuf_init(&sql);
	ftr_fleet_put_insert(sender->options.fleet, block->table, &sql);
	do {
		*number = number_block(sender, block);
		outcome = send_rows(sender, http, block, ftr_strbuf_str(&sql), err);
	} while (outcome == FTR_HTTP_FAILED && !has_failed(sender) && ftr_http_wait(++attempt));
	ftr_strbuf_fini(&sql);
	return outcome == FTR_HTTP_DONE ? 0 : -EIO;
}

/* With the lock held: the next block, or NULL when there will be none. */
static struct sender_block *take_block(struct sender *sender)
{
	struct sender_block *block;

	while (sender->waiting_nr == 0 && !sender->is_closed)
		pthread_cond_wait(&sender->changed, &sender->lock);
	if (sender->waiting_nr == 0)
		return NULL;
	block = sender->waiting[0];
	sender->waiting_nr--;
	memmove(&sender->waiting[0], &sender->waiting[1],
		sender->waiting_nr * sizeof(sender->waiting[0]));
	pthread_cond_broadcast(&sender->changed);
	return block;
}

static void *send_blocks(void *arg)
{
	struct sender *sender = arg;
	struct sender_block *block;
	struct ftr_http *http;
	struct ftr_err err = { 0 };
	uint32_t number;
	int ret;

	pthread_mutex_lock(&sender->lock);
	http = sender->https[sender->next_http++];
	while ((block = take_block(sender)) != NULL) {
		ret = -EIO;
		if (sender->err.code == 0) {
			pthread_mutex_unlock(&sender->lock);
			ret = send_block(sender, http, block, &number, &err);
			pthread_mutex_lock(&sender->lock);
			if (ret == 0 && ftr_vec_push(&sender->arrived, number) < 0)
				ret = ftr_err_set(&err, ENOMEM, "out of memory");
		}
		if (ret < 0 && sender->err.code == 0)
			sender->err = err;
		pthread_cond_broadcast(&sender->changed);
		sender_block_free(block);
	}
	pthread_mutex_unlock(&sender->lock);
	return NULL;
}

static int start_threads(struct sender *sender, struct ftr_err *err)
{
	unsigned wanted = sender->options.threads;
	int code;

	wanted = wanted < 1 ? 1 : wanted > THREADS_MAX ? THREADS_MAX : wanted;
	for (unsigned i = 0; i < wanted; i++) {
		sender->https[i] = ftr_http_new(sender->options.server, err);
		if (sender->https[i] == NULL)
			return -err->code;
		code = pthread_create(&sender->threads[i], NULL, send_blocks, sender);
		if (code != 0)
			return ftr_err_set(err, code, "a thread to send rows: %s", strerror(code));
		sender->thread_nr++;
	}
	return 0;
}

struct sender *sender_new(const struct sender_options *options, struct ftr_err *err)
{
	struct sender *sender = calloc(1, sizeof(*sender));

	if (sender == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	sender->options = *options;
	pthread_mutex_init(&sender->lock, NULL);
	pthread_cond_init(&sender->changed, NULL);
	if (start_threads(sender, err) == 0)
		return sender;
	sender_free(sender);
	return NULL;
}

int sender_put(struct sender *sender, struct sender_block *block, struct ftr_err *err)
{
	int ret = 0;

	pthread_mutex_lock(&sender->lock);
	while (sender->waiting_nr == sender->thread_nr && sender->err.code == 0)
		pthread_cond_wait(&sender->changed, &sender->lock);
	if (sender->err.code != 0)
		ret = ftr_err_set(err, sender->err.code, "%s", sender->err.text);
	else
		sender->waiting[sender->waiting_nr++] = block;
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	if (ret < 0)
		sender_block_free(block);
	return ret;
}

/* No block will follow; those on their way arrive or fail. */
static void join_threads(struct sender *sender)
{
	pthread_mutex_lock(&sender->lock);
	sender->is_closed = true;
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	while (sender->thread_nr > 0)
		pthread_join(sender->threads[--sender->thread_nr], NULL);
}

int sender_finish(struct sender *sender, const uint32_t **blocks, size_t *nr, struct ftr_err *err)
{
	join_threads(sender);
	if (sender->err.code != 0)
		return ftr_err_set(err, sender->err.code, "%s", sender->err.text);
	*blocks = sender->arrived.v;
	*nr = sender->arrived.nr;
	return 0;
}

void sender_free(struct sender *sender)
{
	if (sender == NULL)
		return;
	pthread_mutex_lock(&sender->lock);
	if (sender->err.code == 0)
		ftr_err_set(&sender->err, ECANCELED, "given up");
	pthread_mutex_unlock(&sender->lock);
	join_threads(sender);
	for (unsigned i = 0; i < THREADS_MAX; i++)
		ftr_http_free(sender->https[i]);
	ftr_vec_fini(&sender->arrived);
	pthread_mutex_destroy(&sender->lock);
	pthread_cond_destroy(&sender->changed);
	free(sender);
}
