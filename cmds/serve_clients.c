/* SPDX-License-Identifier: MIT */
/* See serve_clients.h. */
#include "cmds/serve_clients.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmds/message.h"
#include "utils/base/bits.h"
#include "utils/base/clock.h"
#include "utils/base/vec.h"
#include "utils/remote/fanout.h"
#include "utils/remote/tcp.h"

#define CLIENTS_MAX	500
#define STREAM_BYTES	FTR_KIB(256)
#define LOOK_MS		1000
#define TOKEN_NS	UINT64_C(10000000000)	/* until a client has said it */
#define LAST_NS		UINT64_C(10000000000)	/* without progress, at the end */

struct serving {
	const struct ftr_serve_clients *serve;
	struct ftr_fanout fanout;
	FTR_VEC(struct pollfd) polled;	/* listen, stream, then the clients' */
	uint8_t *bytes;			/* (owned) of the stream */
	uint64_t progress_ns;		/* when the last byte was sent */
	bool is_ended;			/* the stream */
	bool was_ready;
	bool is_damage_said;
};

static uint64_t now(void)
{
	return ftr_clock_now_ns(CLOCK_MONOTONIC);
}

static void client_add(struct serving *self)
{
	int fd = accept4(self->serve->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	char name[FTR_TCP_NAME_BYTES];
	const char *refusal = NULL;

	if (fd < 0)
		return;
	if (self->fanout.clients.nr >= CLIENTS_MAX)
		refusal = "there are too many others; it may try again later";
	else if (ftr_fanout_add(&self->fanout, fd) < 0)
		refusal = "out of memory";
	else
		self->fanout.clients.v[self->fanout.clients.nr - 1]->since_ns = now();
	if (refusal == NULL)
		return;
	ftr_warn("serve: %s was refused: %s", ftr_tcp_name(fd, false, name), refusal);
	close(fd);
}

static void client_say(const struct ftr_fanout_client *client)
{
	char name[FTR_TCP_NAME_BYTES];
	const char *peer = ftr_tcp_name(client->fd, false, name);

	if (client->lost_total > 0)
		ftr_warn("serve: %s: %llu messages of %llu were lost, because it did not read them "
			 "fast enough", peer, (unsigned long long)client->lost_total,
			 (unsigned long long)(client->lost_total + client->sent));
	if (client->why != NULL)
		ftr_verbose(1, "serve: %s: %s", peer, client->why);
}

/* A connection that is closed with something unheard would take back what is on its way. */
static void client_end(struct ftr_fanout *fanout, size_t i)
{
	struct ftr_fanout_client *client = fanout->clients.v[i];
	char unheard[4096];

	client_say(client);
	shutdown(client->fd, SHUT_WR);
	while (recv(client->fd, unheard, sizeof(unheard), MSG_DONTWAIT) > 0)
		;
	ftr_fanout_remove(fanout, i);
}

/* Once: the program may begin. */
static void begin_say(struct serving *self)
{
	if (!self->was_ready && self->serve->ready_fd >= 0)
		(void)!write(self->serve->ready_fd, "", 1);
	self->was_ready = true;
}

static void clients_check(struct serving *self)
{
	for (size_t i = self->fanout.clients.nr; i-- > 0;) {
		struct ftr_fanout_client *client = self->fanout.clients.v[i];

		if (client->is_waiting && !client->is_lost && now() - client->since_ns > TOKEN_NS) {
			client->is_lost = true;
			client->why = "it has not said the token";
		}
		if (client->is_lost) {
			client_say(client);
			ftr_fanout_remove(&self->fanout, i);
		} else if (client->is_finishing && client->len == 0 && !self->is_ended) {
			client_end(&self->fanout, i);
		} else if (!self->serve->has_control && !client->is_waiting) {
			begin_say(self);
		}
	}
	if (self->fanout.wants_start)
		begin_say(self);
}

static void stream_read(struct serving *self)
{
	ssize_t n = read(self->serve->stream_fd, self->bytes, STREAM_BYTES);

	if (n < 0 && errno == EINTR)
		return;
	if (n > 0 && ftr_fanout_feed(&self->fanout, self->bytes, (size_t)n) == 0) {
		if (self->fanout.is_damaged && !self->is_damage_said)
			ftr_warn("serve: the stream is damaged; nothing more is sent");
		self->is_damage_said |= self->fanout.is_damaged;
		return;
	}
	if (n > 0)
		ftr_warn("serve: out of memory; nothing more is sent");
	ftr_fanout_end(&self->fanout);
	self->is_ended = true;
	self->progress_ns = now();
}

static void clients_send(struct serving *self)
{
	for (size_t i = 0; i < self->fanout.clients.nr; i++) {
		if (ftr_fanout_send(self->fanout.clients.v[i]))
			self->progress_ns = now();
	}
}

static bool is_all_sent(const struct serving *self)
{
	for (size_t i = 0; i < self->fanout.clients.nr; i++) {
		if (self->fanout.clients.v[i]->len > 0)
			return false;
	}
	return true;
}

static int polled_make(struct serving *self)
{
	struct pollfd fds[2] = { { .fd = self->serve->listen_fd, .events = POLLIN },
				 { .fd = self->is_ended ? -1 : self->serve->stream_fd,
				   .events = POLLIN } };

	self->polled.nr = 0;
	if (ftr_vec_push(&self->polled, fds[0]) < 0 || ftr_vec_push(&self->polled, fds[1]) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < self->fanout.clients.nr; i++) {
		const struct ftr_fanout_client *client = self->fanout.clients.v[i];
		struct pollfd fd = { .fd = client->fd, .events = POLLIN };

		fd.events |= client->len > 0 ? POLLOUT : 0;
		if (ftr_vec_push(&self->polled, fd) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* One look at everybody.  -ENOMEM, or 0. */
static int serve_once(struct serving *self)
{
	size_t nr = self->fanout.clients.nr;

	if (polled_make(self) < 0)
		return -ENOMEM;
	if (poll(self->polled.v, self->polled.nr, LOOK_MS) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		if (self->polled.v[i + 2].revents & (POLLIN | POLLHUP | POLLERR))
			ftr_fanout_hear(&self->fanout, self->fanout.clients.v[i]);
	}
	if (self->polled.v[0].revents != 0)
		client_add(self);
	if (self->polled.v[1].revents != 0)
		stream_read(self);
	clients_send(self);
	clients_check(self);
	return 0;
}

void ftr_serve_clients(const struct ftr_serve_clients *serve)
{
	struct serving self = { .serve = serve, .bytes = malloc(STREAM_BYTES) };
	int ret = self.bytes == NULL ? -ENOMEM : 0;

	ftr_fanout_init(&self.fanout, serve->token);
	self.fanout.has_control = serve->has_control;
	while (ret == 0 && !(self.is_ended &&
			     (is_all_sent(&self) || now() - self.progress_ns > LAST_NS)))
		ret = serve_once(&self);
	if (ret < 0)
		ftr_warn("serve: out of memory; nothing more is sent");
	while (self.fanout.clients.nr > 0)
		client_end(&self.fanout, self.fanout.clients.nr - 1);
	ftr_fanout_fini(&self.fanout);
	ftr_vec_fini(&self.polled);
	free(self.bytes);
}
