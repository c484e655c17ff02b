/* SPDX-License-Identifier: MIT */
/*
 * Sends blocks of rows to a database, several at a time.  A block that is sent again has another
 * number: only the numbers that were acknowledged are sealed, so a statement that was carried out
 * although its answer was lost adds nothing.
 */
#ifndef FTR_FLEET_SENDER_H
#define FTR_FLEET_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"

struct ftr_fleet;
struct ftr_http_server;
struct row_table;
struct sender;

/* Before each row stand its load and block, little-endian. */
#define SENDER_PREFIX_BYTES 12

struct sender_block {
	const struct row_table *table;
	char *rows;			/* (owned) each behind its prefix */
	size_t len;
	FTR_VEC(uint32_t) starts;	/* where each row's prefix is */
};

struct sender_options {
	const struct ftr_http_server *server;	/* outlives the sender, as does the next */
	const struct ftr_fleet *fleet;
	uint64_t load;
	unsigned threads;
	bool is_gzip;
};

/* NULL: described. */
struct sender *sender_new(const struct sender_options *options, struct ftr_err *err);
/* Takes the block over, also on failure.  Waits while too many are on their way. */
int  sender_put(struct sender *sender, struct sender_block *block, struct ftr_err *err);
/*
 * Until all has arrived: @blocks (borrowed, until sender_free) are the numbers that count.  What
 * failed is described.
 */
int  sender_finish(struct sender *sender, const uint32_t **blocks, size_t *nr,
		   struct ftr_err *err);
void sender_free(struct sender *sender);	/* gives up what is on its way; NULL is fine */

void sender_block_free(struct sender_block *block);	/* NULL is fine */

#endif /* FTR_FLEET_SENDER_H */
