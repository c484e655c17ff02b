/* SPDX-License-Identifier: MIT */
/* The recorder's end of the channel. */
#include "utils/record/channel.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union fd_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int ftr_channel_open(struct ftr_channel *channel, struct ftr_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	uint64_t random[2];
	size_t len;

	*channel = (struct ftr_channel){ .fd = -1 };
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return ftr_err_set(err, errno, "channel: getrandom: %s", strerror(errno));
	snprintf(channel->name, sizeof(channel->name), "ftr-%016" PRIx64 "%016" PRIx64, random[0],
		 random[1]);
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

static void waiting_remove(struct ftr_channel *channel, unsigned i)
{
	channel->waiting_nr--;
	memmove(&channel->waiting[i], &channel->waiting[i + 1],
		(channel->waiting_nr - i) * sizeof(channel->waiting[0]));
}

void ftr_channel_close(struct ftr_channel *channel)
{
	while (channel->waiting_nr > 0)
		close(channel->waiting[--channel->waiting_nr]);
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
}

/* Accept what has connected; whoever has been silent for longest makes room. */
static void accept_all(struct ftr_channel *channel)
{
	int sock;

	while ((sock = accept4(channel->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (channel->waiting_nr == FTR_CHANNEL_WAITING_MAX) {
			close(channel->waiting[0]);
			waiting_remove(channel, 0);
		}
		channel->waiting[channel->waiting_nr++] = sock;
	}
}

/* More than one descriptor cannot come: there is room for one, the kernel closes the rest. */
static int received_fd(struct msghdr *packet)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(packet);
	int fd = -1;

	if (cmsg != NULL && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
	    cmsg->cmsg_len >= CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
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
	union fd_control control;
	struct msghdr packet = {
		.msg_iov = parts, .msg_iovlen = 2,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct ucred cred = { 0 };
	socklen_t cred_bytes = sizeof(cred);
	ssize_t len = recvmsg(sock, &packet, MSG_CMSG_CLOEXEC);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0)
		return -1;
	request->fd = received_fd(&packet);
	if (!request_check(request, (size_t)len) || (packet.msg_flags & MSG_TRUNC) != 0 ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &cred_bytes) < 0 || cred.pid <= 0) {
		if (request->fd >= 0)
			close(request->fd);
		return -1;
	}
	request->sock = sock;
	request->pid = cred.pid;
	request->uid = cred.uid;
	return 1;
}

bool ftr_channel_next(struct ftr_channel *channel, struct ftr_channel_request *request)
{
	unsigned i = 0;
	int ret;

	accept_all(channel);
	while (i < channel->waiting_nr) {
		int sock = channel->waiting[i];

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

void ftr_channel_reply(struct ftr_channel_request *request, uint64_t base, int fd,
		       const char *reason)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = reason == NULL ? FTR_CHANNEL_OK : FTR_CHANNEL_REFUSED,
		.path_bytes = reason == NULL ? 0 : (uint32_t)strlen(reason),
		.base = base,
	};
	struct iovec parts[2] = {
		{ &message, sizeof(message) },
		{ (void *)reason, message.path_bytes },
	};
	union fd_control control = { .room = { 0 } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		packet.msg_control = &control;
		packet.msg_controllen = sizeof(control);
	}
	/* A peer that is gone does not mind. */
	(void)!sendmsg(request->sock, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(request->sock);
	request->sock = -1;
}
