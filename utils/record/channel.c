/* SPDX-License-Identifier: MIT */
/* The recorder's end of the channel. */
#include "utils/record/channel.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/base/clock.h"

union fd_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(FTR_CHANNEL_REPLY_FDS * sizeof(int))];
};

int ftr_channel_open(struct ftr_channel *channel, bool leaves, struct ftr_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t random[2];
	size_t len;

	*channel = (struct ftr_channel){ .fd = -1, .path_fd = -1 };
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return ftr_err_set(err, errno, "channel: getrandom: %s", strerror(errno));
	snprintf(channel->name, sizeof(channel->name), "ftr-%016" PRIx64 "%016" PRIx64 "%s",
		 random[0], random[1], leaves ? FTR_CHANNEL_LEAVES : "");
	len = strlen(channel->name);
	memcpy(address.sun_path + 1, channel->name, len);
	channel->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (channel->fd < 0 ||
	    bind(channel->fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) < 0 ||
	    listen(channel->fd, SOMAXCONN) < 0) {
		ftr_err_set(err, errno, "channel: %s", strerror(errno));
		ftr_channel_close(channel);
		return -err->code;
	}
	return 0;
}

static void path_make(const struct ftr_channel *channel, struct sockaddr_un *address)
{
	address->sun_family = AF_UNIX;
	snprintf(address->sun_path, sizeof(address->sun_path), FTR_CHANNEL_DIR "%s", channel->name);
}

int ftr_channel_open_path(struct ftr_channel *channel, struct ftr_err *err)
{
	struct sockaddr_un address;

	path_make(channel, &address);
	channel->path_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (channel->path_fd >= 0 &&
	    bind(channel->path_fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    chmod(address.sun_path, 0666) == 0 &&	/* as open as the abstract address */
	    listen(channel->path_fd, SOMAXCONN) == 0)
		return 0;
	return ftr_err_set(err, errno, "%s: %s", address.sun_path, strerror(errno));
}

static void waiting_remove(struct ftr_channel *channel, unsigned i)
{
	assert(i < channel->waiting_nr);
	channel->waiting_nr--;
	memmove(&channel->waiting[i], &channel->waiting[i + 1],
		(channel->waiting_nr - i) * sizeof(channel->waiting[0]));
}

void ftr_channel_close(struct ftr_channel *channel)
{
	struct sockaddr_un address;

	while (channel->waiting_nr > 0)
		close(channel->waiting[--channel->waiting_nr].sock);
	if (channel->fd >= 0)
		close(channel->fd);
	if (channel->path_fd >= 0) {
		path_make(channel, &address);
		unlink(address.sun_path);
		close(channel->path_fd);
	}
	channel->fd = channel->path_fd = -1;
}

/* Accept while there is room; the rest waits in the kernel's queue. */
static void accept_some(struct ftr_channel *channel, int fd)
{
	int sock;

	while (channel->waiting_nr < FTR_CHANNEL_WAITING_MAX &&
	       (sock = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		channel->waiting[channel->waiting_nr].sock = sock;
		channel->waiting[channel->waiting_nr++].since_ns = ftr_clock_now_ns(
			CLOCK_MONOTONIC);
	}
}

/* There is no room, and none has sent its message: hang up on the one that waits for too long. */
static bool make_room(struct ftr_channel *channel)
{
	if (channel->waiting_nr < FTR_CHANNEL_WAITING_MAX ||
	    ftr_clock_now_ns(CLOCK_MONOTONIC) - channel->waiting[0].since_ns <
	    FTR_CHANNEL_PATIENCE_NS)
		return false;
	close(channel->waiting[0].sock);
	waiting_remove(channel, 0);
	return true;
}

bool ftr_channel_wait(const struct ftr_channel *channel, int fd, uint64_t ns)
{
	struct timespec timeout = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
	struct pollfd poll_fds[1 + FTR_CHANNEL_WAITING_MAX] = { { .fd = fd, .events = POLLIN } };
	unsigned i;

	for (i = 0; i < channel->waiting_nr; i++)
		poll_fds[1 + i] = (struct pollfd){ .fd = channel->waiting[i].sock,
						   .events = POLLIN };
	return ppoll(poll_fds, 1 + channel->waiting_nr, &timeout, NULL) > 0;
}

static bool request_check(struct ftr_channel_request *request, size_t len)
{
	const struct ftr_channel_message *message = &request->message;

	if (len < sizeof(*message) || message->magic != FTR_CHANNEL_MAGIC)
		return false;
	if (message->path_bytes > FTR_CHANNEL_PATH_MAX ||
	    message->path_bytes != len - sizeof(*message))
		return false;
	request->path[message->path_bytes] = '\0';
	return true;
}

/* 1: a message; 0: not yet; -1: hung up or nonsense. */
static int receive(int sock, struct ftr_channel_request *request)
{
	struct iovec parts[2] = {
		{ &request->message, sizeof(request->message) },
		{ request->path, FTR_CHANNEL_PATH_MAX },
	};
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 }; /* descriptors are dropped */
	struct ucred cred = { 0 };
	socklen_t cred_bytes = sizeof(cred);
	ssize_t len = recvmsg(sock, &packet, 0);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0)
		return -1;
	if (!request_check(request, (size_t)len) || (packet.msg_flags & MSG_TRUNC) != 0 ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &cred_bytes) < 0 || cred.pid <= 0)
		return -1;
	request->sock = sock;
	request->pid = cred.pid;
	request->uid = cred.uid;
	return 1;
}

/* The oldest that has sent its message; those that hung up are removed. */
static bool waiting_next(struct ftr_channel *channel, struct ftr_channel_request *request)
{
	unsigned i = 0;
	int ret;

	while (i < channel->waiting_nr) {
		int sock = channel->waiting[i].sock;

		ret = receive(sock, request);
		if (ret == 0) {
			i++;
			continue;
		}
		waiting_remove(channel, i);
		if (ret > 0)
			return true;
		close(sock);
	}
	return false;
}

bool ftr_channel_next(struct ftr_channel *channel, struct ftr_channel_request *request)
{
	do {
		accept_some(channel, channel->fd);
		if (channel->path_fd >= 0)
			accept_some(channel, channel->path_fd);
		if (waiting_next(channel, request))
			return true;
	} while (make_room(channel));
	return false;
}

/* False: the peer is gone. */
static bool send_and_close(struct ftr_channel_request *request, struct msghdr *packet)
{
	bool is_sent;

	assert(request->sock >= 0);		/* a request is answered once */
	is_sent = sendmsg(request->sock, packet, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;

	close(request->sock);
	request->sock = -1;
	return is_sent;
}

bool ftr_channel_reply(struct ftr_channel_request *request, uint64_t base, uint64_t time,
		       const int *fds, unsigned fd_nr)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC, .type = FTR_CHANNEL_OK,
		.base = base, .time = time,
	};
	struct iovec part = { &message, sizeof(message) };
	union fd_control control = { .room = { 0 } };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t bytes = fd_nr * sizeof(*fds);

	assert(fd_nr <= FTR_CHANNEL_REPLY_FDS);
	if (fd_nr > 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.header), fds, bytes);
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(bytes);
	}
	return send_and_close(request, &packet);
}

void ftr_channel_refuse(struct ftr_channel_request *request, const char *reason)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC, .type = FTR_CHANNEL_REFUSED,
		.path_bytes = (uint32_t)strlen(reason),
	};
	struct iovec parts[2] = {
		{ &message, sizeof(message) },
		{ (void *)reason, message.path_bytes },
	};
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

	send_and_close(request, &packet);
}
