/* SPDX-License-Identifier: MIT */
/* See fanout.h. */
#include "utils/remote/fanout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"

/* A message: u32 id, u32 sequence, u64 time, u32 length of what follows. */
#define HEADER_BYTES   20u
#define SEQUENCE_AT    4u
#define TIME_AT	       8u
#define LENGTH_AT      16u
#define MESSAGE_MAX    FTR_MIB(16)	/* ours are smaller */
#define ID_PROCESS     0x0001u
#define ID_TERMINATE   0x0002u
#define ID_ERROR       0x0003u
#define ID_MAP	       0x0012u
#define ERROR_BYTES    64u
#define RESERVE_BYTES  FTR_MIB(4)	/* beyond a full buffer, for what explains others */
#define BUFFER_FIRST   FTR_KIB(64)
#define HEAR_BYTES     4096

void ftr_fanout_init(struct ftr_fanout *fanout, const char *token)
{
	*fanout = (struct ftr_fanout){
		.token = token, .buffer_bytes = FTR_FANOUT_BUFFER_BYTES,
		.total_bytes = FTR_FANOUT_TOTAL_BYTES,
	};
	ftr_strbuf_init(&fanout->kept);
	ftr_strbuf_init(&fanout->part);
}

void ftr_fanout_remove(struct ftr_fanout *fanout, size_t i)
{
	struct ftr_fanout_client *client = fanout->clients.v[i];

	close(client->fd);
	free(client->buffer);
	free(client);
	fanout->clients.v[i] = fanout->clients.v[--fanout->clients.nr];
}

void ftr_fanout_fini(struct ftr_fanout *fanout)
{
	while (fanout->clients.nr > 0)
		ftr_fanout_remove(fanout, fanout->clients.nr - 1);
	ftr_vec_fini(&fanout->clients);
	ftr_strbuf_fini(&fanout->kept);
	ftr_strbuf_fini(&fanout->part);
}

/* ---- into the buffer of a client ---- */

static void give_up(struct ftr_fanout_client *client, const char *why)
{
	client->is_lost = true;
	client->why = why;
}

/* False: there is no memory. */
static bool make_room(struct ftr_fanout_client *client, size_t bytes)
{
	size_t cap = client->cap == 0 ? BUFFER_FIRST : client->cap;
	uint8_t *grown;

	if (client->start + client->len + bytes <= client->cap)
		return true;
	if (client->start > 0) {
		memmove(client->buffer, client->buffer + client->start, client->len);
		client->start = 0;
	}
	while (client->len + bytes > cap)
		cap *= 2;
	if (cap == client->cap)
		return true;
	grown = realloc(client->buffer, cap);
	if (grown == NULL)
		return false;
	client->buffer = grown;
	client->cap = cap;
	return true;
}

static void message_copy(struct ftr_fanout_client *client, const uint8_t *message, size_t len)
{
	uint8_t *to;

	if (!make_room(client, len)) {
		give_up(client, "out of memory");
		return;
	}
	to = client->buffer + client->start + client->len;
	memcpy(to, message, len);
	ftr_put_u32(to + SEQUENCE_AT, client->sequence++, false);
	client->len += len;
	client->sent++;
}

/* The text is that of a LOST event, as every reader of ours knows it. */
static void error_put(struct ftr_fanout_client *client, const uint8_t time[8])
{
	uint8_t message[HEADER_BYTES + ERROR_BYTES];
	int len = snprintf((char *)message + HEADER_BYTES, ERROR_BYTES, "LOST %llu records",
			   (unsigned long long)client->lost);

	ftr_put_u32(message, ID_ERROR, false);
	memcpy(message + TIME_AT, time, 8);
	ftr_put_u32(message + LENGTH_AT, (uint32_t)len + 1, false);
	client->lost = 0;
	message_copy(client, message, HEADER_BYTES + (size_t)len + 1);
}

/* What it gets from now on is the end, behind what it has lost last. */
static void client_finish(struct ftr_fanout *fanout, struct ftr_fanout_client *client)
{
	if (client->lost > 0 && !client->is_lost)
		error_put(client, fanout->time);
	client->is_finishing = true;
}

static bool explains_others(uint32_t id)
{
	return id == ID_PROCESS || id == ID_MAP || id == ID_TERMINATE;
}

static size_t buffer_max(const struct ftr_fanout *fanout)
{
	size_t share = fanout->total_bytes / fanout->clients.nr;

	return share < fanout->buffer_bytes ? share : fanout->buffer_bytes;
}

/* One that has lost messages gets others when half of its buffer is free. */
static void client_put(const struct ftr_fanout *fanout, struct ftr_fanout_client *client,
		       const uint8_t *message, size_t len)
{
	size_t most = buffer_max(fanout);

	if (client->is_waiting || client->is_lost || client->is_control || client->is_finishing)
		return;
	if (client->len + len <= (client->lost > 0 ? most / 2 : most)) {
		if (client->lost > 0)
			error_put(client, message + TIME_AT);
		message_copy(client, message, len);
	} else if (!explains_others(ftr_get_u32(message, false))) {
		client->lost++;
		client->lost_total++;
	} else if (client->len + len <= most + RESERVE_BYTES) {
		message_copy(client, message, len);
	} else {
		give_up(client, "it does not read");
	}
}

/* ---- the stream ---- */

/* Those about one process are of no use any more when it has ended. */
static void kept_forget(struct ftr_strbuf *kept, uint32_t pid)
{
	size_t at = 0, to = 0;

	while (at < kept->len) {
		const uint8_t *message = (const uint8_t *)kept->s + at;
		size_t len = HEADER_BYTES + ftr_get_u32(message + LENGTH_AT, false);

		if (ftr_get_u32(message + HEADER_BYTES, false) != pid) {
			memmove(kept->s + to, message, len);
			to += len;
		}
		at += len;
	}
	kept->len = to;
}

static void message_keep(struct ftr_fanout *fanout, const uint8_t *message, size_t len)
{
	uint32_t id = ftr_get_u32(message, false);

	memcpy(fanout->time, message + TIME_AT, sizeof(fanout->time));
	if (!explains_others(id) || len < HEADER_BYTES + sizeof(uint32_t))
		return;
	if (id != ID_MAP)	/* a program takes the place of the one before */
		kept_forget(&fanout->kept, ftr_get_u32(message + HEADER_BYTES, false));
	if (id != ID_TERMINATE)
		ftr_strbuf_put(&fanout->kept, message, len);
}

static void message_feed(struct ftr_fanout *fanout, const uint8_t *message, size_t len)
{
	fanout->messages++;
	message_keep(fanout, message, len);
	for (size_t i = 0; i < fanout->clients.nr; i++)
		client_put(fanout, fanout->clients.v[i], message, len);
}

/* How many bytes of whole messages there are; each is passed on. */
static size_t messages_feed(struct ftr_fanout *fanout, const uint8_t *bytes, size_t len)
{
	size_t at = 0;

	while (len - at >= HEADER_BYTES) {
		size_t more = ftr_get_u32(bytes + at + LENGTH_AT, false);

		if (more > MESSAGE_MAX) {
			fanout->is_damaged = true;
			return len;
		}
		if (len - at < HEADER_BYTES + more)
			break;
		message_feed(fanout, bytes + at, HEADER_BYTES + more);
		at += HEADER_BYTES + more;
	}
	return at;
}

/* What @part lacks to be a whole message, as far as that is known; 0: it is one. */
static size_t part_lacks(const struct ftr_strbuf *part)
{
	size_t whole = HEADER_BYTES;

	if (part->len >= HEADER_BYTES)
		whole += ftr_get_u32((const uint8_t *)part->s + LENGTH_AT, false);
	return whole - part->len;
}

int ftr_fanout_feed(struct ftr_fanout *fanout, const void *bytes, size_t len)
{
	struct ftr_strbuf *part = &fanout->part;
	const uint8_t *from = bytes;
	size_t taken;

	while (part->len > 0 && len > 0 && !fanout->is_damaged) {
		taken = part_lacks(part) < len ? part_lacks(part) : len;
		ftr_strbuf_put(part, from, taken);
		from += taken;
		len -= taken;
		if (part->len >= HEADER_BYTES &&
		    messages_feed(fanout, (const uint8_t *)part->s, part->len) > 0)
			ftr_strbuf_clear(part);
	}
	if (fanout->is_damaged)
		return 0;
	taken = messages_feed(fanout, from, len);
	if (!fanout->is_damaged && taken < len)
		ftr_strbuf_put(part, from + taken, len - taken);
	return part->failed || fanout->kept.failed ? -ENOMEM : 0;
}

void ftr_fanout_end(struct ftr_fanout *fanout)
{
	for (size_t i = 0; i < fanout->clients.nr; i++) {
		if (!fanout->clients.v[i]->is_finishing)
			client_finish(fanout, fanout->clients.v[i]);
	}
}

/* ---- clients ---- */

static struct ftr_fanout_client *control_find(const struct ftr_fanout *fanout)
{
	for (size_t i = 0; i < fanout->clients.nr; i++) {
		if (fanout->clients.v[i]->is_control && !fanout->clients.v[i]->is_lost)
			return fanout->clients.v[i];
	}
	return NULL;
}

/* Requests, to replies in its buffer. */
static void control_hear(struct ftr_fanout *fanout, struct ftr_fanout_client *client,
			 const char *bytes, size_t len)
{
	struct ftr_swap_control *control = &client->control;
	struct ftr_strbuf replies;

	ftr_strbuf_init(&replies);
	ftr_swap_control_feed(control, bytes, len, &replies);
	if (client->len + replies.len > FTR_FANOUT_REPLIES_MAX) {
		give_up(client, "it does not read replies");
	} else if (replies.failed || !make_room(client, replies.len)) {
		give_up(client, "out of memory");
	} else if (replies.len > 0) {
		memcpy(client->buffer + client->start + client->len, replies.s, replies.len);
		client->len += replies.len;
	}
	ftr_strbuf_fini(&replies);
	fanout->wants_start |= control->wants_start;
	for (size_t i = 0; control->wants_stop && i < fanout->clients.nr; i++) {
		if (!fanout->clients.v[i]->is_control && !fanout->clients.v[i]->is_waiting)
			client_finish(fanout, fanout->clients.v[i]);
	}
	control->wants_start = control->wants_stop = false;
}

/* It may be served from now on: first with what explains the rest. */
static void client_begin(struct ftr_fanout *fanout, struct ftr_fanout_client *client)
{
	const uint8_t *bytes = (const uint8_t *)fanout->kept.s;
	size_t at = 0;

	client->is_waiting = false;
	client->is_control = fanout->has_control && control_find(fanout) == NULL;
	while (!client->is_control && at < fanout->kept.len) {
		size_t len = HEADER_BYTES + ftr_get_u32(bytes + at + LENGTH_AT, false);

		message_copy(client, bytes + at, len);
		at += len;
	}
}

int ftr_fanout_add(struct ftr_fanout *fanout, int fd)
{
	struct ftr_fanout_client *client = calloc(1, sizeof(*client));

	if (client == NULL || ftr_vec_push(&fanout->clients, client) < 0) {
		free(client);
		return -ENOMEM;
	}
	client->fd = fd;
	client->is_waiting = fanout->token != NULL;
	if (!client->is_waiting)
		client_begin(fanout, client);
	return 0;
}

bool ftr_fanout_send(struct ftr_fanout_client *client)
{
	ssize_t n;

	if (client->len == 0 || client->is_lost)
		return false;
	n = send(client->fd, client->buffer + client->start, client->len,
		 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		give_up(client, strerror(errno));
	if (n <= 0)
		return false;
	client->start += (size_t)n;
	client->len -= (size_t)n;
	if (client->len == 0)
		client->start = 0;
	return true;
}

/* All of it is looked at, wherever it differs. */
static bool is_token(const char *token, const char *said, size_t len)
{
	size_t wanted = strlen(token);
	unsigned differs = len != wanted;

	for (size_t i = 0; i < wanted; i++)
		differs |= (unsigned)(unsigned char)token[i] ^
			   (unsigned char)(i < len ? said[i] : 0);
	return differs == 0;
}

/* The first line that a client says has to be the token. */
static void token_hear(struct ftr_fanout *fanout, struct ftr_fanout_client *client,
		       const char *bytes, size_t len)
{
	const char *line = memchr(bytes, '\n', len);
	size_t part = line == NULL ? len : (size_t)(line - bytes);

	if (client->said_len + part > FTR_FANOUT_TOKEN_MAX) {
		give_up(client, "it does not know the token");
		return;
	}
	memcpy(client->said + client->said_len, bytes, part);
	client->said_len += part;
	if (line == NULL)
		return;
	if (!is_token(fanout->token, client->said, client->said_len)) {
		give_up(client, "it does not know the token");
		return;
	}
	client_begin(fanout, client);
	if (client->is_control)
		control_hear(fanout, client, line + 1, len - part - 1);
}

void ftr_fanout_hear(struct ftr_fanout *fanout, struct ftr_fanout_client *client)
{
	char bytes[HEAR_BYTES];
	ssize_t n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == 0)
		give_up(client, "it closed the connection");
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		give_up(client, strerror(errno));
	else if (n > 0 && client->is_waiting)
		token_hear(fanout, client, bytes, (size_t)n);
	else if (n > 0 && client->is_control)
		control_hear(fanout, client, bytes, (size_t)n);
}
