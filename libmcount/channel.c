/* SPDX-License-Identifier: MIT */
/* A connection for each message: no descriptor stays in the program, none can be closed by it. */
#include "libmcount/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "libmcount/clock.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

/* A control message with one descriptor. */
union fd_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

/* One with as many as a reply may bring. */
union reply_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(FTR_CHANNEL_REPLY_FDS * sizeof(int))];
};

/* libc's own use vector registers, which may hold arguments of the call that brought us here. */
static size_t length(const char *text)
{
	size_t nr = 0;

	while (text[nr] != '\0')
		nr++;
	return nr;
}

static char *bytes_copy(char *to, const char *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		*to++ = from[i];
	return to;
}

/*
 * In another network namespace than the recorder's there is no such address; a path may lead there.
 */
static long connect_by_path(long fd, struct sockaddr_un *address)
{
	static const char dir[] = FTR_CHANNEL_DIR;
	char *to = address->sun_path;

	if (sizeof(dir) + ftr_state.address_bytes > sizeof(address->sun_path))
		return -ENAMETOOLONG;
	to = bytes_copy(to, dir, sizeof(dir) - 1);
	to = bytes_copy(to, ftr_state.address, ftr_state.address_bytes);
	*to = '\0';
	return ftr_sys3(SYS_connect, fd, address, sizeof(*address));
}

/* Has the recorder answered any message since *@seen? */
static bool is_progress(uint32_t *seen)
{
	uint32_t before = *seen;

	if (ftr_state.control == NULL)
		return false;
	*seen = atomic_load(&ftr_state.control->answered);
	return *seen != before;
}

static int channel_connect(uint32_t *seen)
{
	struct { long sec, usec; } timeout = { FTR_CHANNEL_TIMEOUT_MS / 1000, 0 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long fd, ret;
	uint32_t i;

	if (atomic_load(&ftr_state.is_unanswered) !=
	    0) /* it is stopped: do not wait as long at every thread's start */
		timeout.sec = 0, timeout.usec = FTR_CHANNEL_IMPATIENT_MS * 1000;
	fd = ftr_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	for (i = 0; i < ftr_state.address_bytes; i++)	/* sun_path[0] stays NUL: abstract */
		address.sun_path[1 + i] = ftr_state.address[i];
	ftr_sys5(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	ftr_sys5(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	do
		ret = ftr_sys3(SYS_connect, fd, &address,
			       offsetof(struct sockaddr_un, sun_path) + 1 +
				       ftr_state.address_bytes);
	while (ret == -EAGAIN && is_progress(seen));
	if (ret == -ECONNREFUSED)
		ret = connect_by_path(fd, &address);
	if (ret < 0) {
		ftr_sys_close_own(fd);
		return (int)ret;
	}
	return (int)fd;
}

static int channel_send(int sock, const struct ftr_channel_message *message, const char *path,
			const char *more)
{
	struct iovec parts[3] = {
		{ (void *)message, sizeof(*message) },
		{ (void *)path, message->path_bytes },
		{ (void *)more, 0 },
	};
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 3 };
	size_t len = more != NULL ? length(path) : 0;
	long ret;

	if (more != NULL && len + 1 < message->path_bytes) {
		parts[1].iov_len = len + 1;
		parts[2].iov_len = message->path_bytes - len - 1;
	}
	ret = ftr_sys3(SYS_sendmsg, sock, &packet, MSG_NOSIGNAL);
	return ret < 0 ? (int)ret : 0;
}

/* Hand the descriptors of a reply over, or close them. */
static void take_fds(const union reply_control *control, size_t bytes, int *fds)
{
	const int *given = (const int *)CMSG_DATA(&control->header);
	size_t nr, i;

	if (bytes < CMSG_LEN(0) || control->header.cmsg_type != SCM_RIGHTS)
		return;
	nr = (control->header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (i = 0; i < nr && i < FTR_CHANNEL_REPLY_FDS; i++) {
		if (fds != NULL)
			fds[i] = given[i];
		else
			ftr_sys_close_own(given[i]);
	}
}

static int channel_receive(int sock, struct ftr_channel_message *reply, int *reply_fds,
			   uint32_t *seen)
{
	struct iovec part = { reply, sizeof(*reply) };
	union reply_control control;
	struct msghdr packet = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	long ret;

	do
		ret = ftr_sys3(SYS_recvmsg, sock, &packet, MSG_CMSG_CLOEXEC);
	while (ret == -EAGAIN && is_progress(seen));
	if (ret <= 0)
		return ret < 0 ? (int)ret : -ECONNRESET;
	take_fds(&control, packet.msg_controllen, reply_fds);
	if (ret < (long)sizeof(*reply) || reply->magic != FTR_CHANNEL_MAGIC)
		return -EPROTO;
	return reply->type == FTR_CHANNEL_OK ? 0 : -EACCES;
}

/*
 * Is there room for the descriptors of a reply?  Asked first: the recorder does not learn that they
 * did not arrive.
 */
static bool has_room(const struct ftr_channel_message *message, int sock)
{
	bool is_new_ring = message->type == (FTR_CHANNEL_TASK | FTR_CHANNEL_GROW) ||
			   message->type == FTR_CHANNEL_NURSERY ||
			   (message->type == FTR_CHANNEL_TASK && message->base == 0);
	bool is_with_task = message->type == (FTR_CHANNEL_SESSION | FTR_CHANNEL_WITH_TASK);
	int nr = is_with_task			       ? FTR_CHANNEL_REPLY_FDS :
		 message->type == FTR_CHANNEL_SESSION ? FTR_CHANNEL_REPLY_FDS - 1 : is_new_ring;
	long fds[FTR_CHANNEL_REPLY_FDS];
	int i, got = 0;

	while (got < nr &&
	       (fds[got] = ftr_sys6(SYS_fcntl, sock, F_DUPFD_CLOEXEC, 0, 0, 0, FTR_OWN_CALL)) >= 0)
		got++;
	for (i = 0; i < got; i++)
		ftr_sys_close_own(fds[i]);
	return got == nr;
}

static int ask_once(const struct ftr_channel_message *message, const char *path, const char *more,
		    struct ftr_channel_message *reply, int *reply_fds)
{
	uint32_t seen = 0;
	int sock, ret;

	is_progress(&seen);
	sock = channel_connect(&seen);
	if (sock < 0)
		return sock;
	ret = has_room(message, sock) ?
	      channel_send(sock, message, path, more) : -EMFILE;
	if (ret == 0)
		ret = channel_receive(sock, reply, reply_fds, &seen);
	ftr_sys_close_own(sock);
	return ret;
}

/* A busy recorder hangs up on slow senders, which we may be on a busy machine: try again. */
static int ask(struct ftr_channel_message *message, const char *path, const char *more,
	       int *reply_fds)
{
	struct ftr_channel_message reply;
	int ret, tries = 0;

	if (ftr_is_silent())
		return -EPERM;
	do
		ret = ask_once(message, path, more, &reply, reply_fds);
	while ((ret == -EPIPE || ret == -ECONNRESET) && ++tries < FTR_CHANNEL_TRIES);
	atomic_store(&ftr_state.is_unanswered, ret == -EAGAIN);
	if (ret == 0) {
		message->base = reply.base;
		message->time = reply.time;
	}
	return ret;
}

int ftr_channel_ask(struct ftr_channel_message *message, const char *path, int *reply_fds)
{
	return ask(message, path, NULL, reply_fds);
}

/*
 * A thousand threads that begin at once would take all descriptors that the program may have.  So
 * few ask at a time, and the others wait for as long as the recorder goes on answering.
 */
#define ASKING_MAX 8u
#define TURN_WAIT_S 1			/* when no wake arrives: thousands must not poll */
#define TURN_WAITS 3			/* without progress */

/* A child of fork inherits the turns of threads that it has not. */
static void turns_renew(void)
{
	uint32_t pid = (uint32_t)ftr_sys0(SYS_getpid);

	if (atomic_load(&ftr_state.asking_pid) == pid)
		return;
	atomic_store(&ftr_state.asking, 0);
	atomic_store(&ftr_state.asking_pid, pid);
}

static void turn_wake(void)
{
	ftr_sys6(SYS_futex, &ftr_state.asking, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/*
 * Who gives a turn where there was none wakes one thread.  More may have been given before that
 * thread takes its own, so it wakes the next one, and so on until none is left:
 * tests/model/turns.pml.
 */
bool ftr_channel_turn_take(void)
{
	const struct { long sec, nsec; } wait = { TURN_WAIT_S, 0 };
	uint32_t nr, seen = 0, waits = 0;
	bool has_waited = false;

	if (ftr_is_silent())
		return false;
	is_progress(&seen);
	turns_renew();
	nr = atomic_load(&ftr_state.asking);
	while (waits < TURN_WAITS) {
		if (nr < ASKING_MAX) {
			if (!atomic_compare_exchange_weak(&ftr_state.asking, &nr, nr + 1))
				continue;
			if (has_waited && nr + 1 < ASKING_MAX)
				turn_wake();
			return true;
		}
		if (atomic_load(&ftr_state.is_unanswered) != 0)
			break;
		ftr_sys6(SYS_futex, &ftr_state.asking, FUTEX_WAIT_PRIVATE, nr, &wait, 0, 0);
		has_waited = true;
		waits = is_progress(&seen) ? 0 : waits + 1;
		nr = atomic_load(&ftr_state.asking);
	}
	if (has_waited)
		turn_wake();
	return false;
}

void ftr_channel_turn_give(void)
{
	uint32_t nr = atomic_load(&ftr_state.asking);

	while (nr > 0 && !atomic_compare_exchange_weak(&ftr_state.asking, &nr, nr - 1))
		;
	if (nr >= ASKING_MAX)
		turn_wake();
}

uint64_t ftr_channel_send(enum ftr_channel_type type, const char *text, const char *more)
{
	size_t bytes = length(text) + (more != NULL ? 1 + length(more) : 0);
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = type,
		.path_bytes = bytes < FTR_CHANNEL_PATH_MAX ? (uint32_t)bytes : FTR_CHANNEL_PATH_MAX,
	};

	if (ftr_state.control == NULL || ftr_is_silent() || ftr_recorder_is_gone())
		return 0;
	message.pid = (int32_t)ftr_sys0(SYS_getpid);
	message.tid = (int32_t)ftr_sys0(SYS_gettid);
	message.time = ftr_clock_read();
	if (!ftr_channel_turn_take())
		return 0;
	if (ask(&message, text, more, NULL) < 0)
		message.base = 0;
	ftr_channel_turn_give();
	return message.base;
}
