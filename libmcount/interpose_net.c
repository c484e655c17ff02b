/* SPDX-License-Identifier: MIT */
/*
 * libmcount-net.so, the probe "net": what is done with sockets, and where threads wait for
 * descriptors.  It is preloaded where the probe is on (doc/adr/0080).
 *
 * read, write and close are of sockets and of all else: which descriptors are sockets is known from
 * how they were made, without asking the kernel.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fcntl.h>

#include "libmcount/interpose_ours.h"
#include "libmcount/net_address.h"

#define FOR_EACH(x) \
	x(socket) x(socketpair) x(bind) x(listen) x(connect) x(accept) x(accept4) x(shutdown) \
	x(close) x(dup) x(dup2) x(dup3) x(fcntl) x(fcntl64) x(read) x(__read_chk) x(readv) \
	x(write) x(writev) x(recv) x(__recv_chk) x(recvfrom) x(__recvfrom_chk) x(recvmsg) \
	x(recvmmsg) x(send) x(sendto) x(sendmsg) x(sendmmsg) x(sendfile) x(sendfile64) \
	x(select) x(pselect) x(poll) x(__poll_chk) x(ppoll) x(__ppoll_chk) x(epoll_wait) \
	x(epoll_pwait) x(epoll_pwait2)

FTR_CALL_TABLE(FOR_EACH)

#define KIND(kind) FTR_RECORD_EVENT_NET_##kind

/* ---- which descriptors are sockets ---- */

#define SOCKETS_MAX 65536
#define SOCKETS_BITS 64

static _Atomic uint64_t sockets[SOCKETS_MAX / SOCKETS_BITS];

static inline uint64_t socket_bit(int fd)
{
	return UINT64_C(1) << fd % SOCKETS_BITS;
}

static inline bool is_socket(int fd)
{
	return (unsigned)fd < SOCKETS_MAX &&
	       (atomic_load_explicit(&sockets[fd / SOCKETS_BITS], memory_order_relaxed) &
		socket_bit(fd)) != 0;
}

/* A child of vfork has descriptors of its own, but not this memory. */
static void socket_set(int fd, bool is_socket)
{
	if ((unsigned)fd >= SOCKETS_MAX || ftr_interposed_is_vforked())
		return;
	if (is_socket)
		atomic_fetch_or(&sockets[fd / SOCKETS_BITS], socket_bit(fd));
	else
		atomic_fetch_and(&sockets[fd / SOCKETS_BITS], ~socket_bit(fd));
}

/* ---- connections ---- */

OURS(int, socket, (int domain, int type, int protocol))
{
	struct ftr_call_open before = ftr_call_begin_with(KIND(SOCKET), NUMBER(domain),
							  NUMBER(type), FTR_CALL_SLOT());
	int ret = REAL(socket)(domain, type, protocol);

	socket_set(ret, true);
	ftr_call_end(ftr_call_result(ret), before);
	return ret;
}

/* Its result is the first one. */
OURS(int, socketpair, (int domain, int type, int protocol, int fds[2]))
{
	struct ftr_call_open before = ftr_call_begin_with(KIND(SOCKET), NUMBER(domain),
							  NUMBER(type), FTR_CALL_SLOT());
	int ret = REAL(socketpair)(domain, type, protocol, fds);

	if (ret == 0) {
		socket_set(fds[0], true);
		socket_set(fds[1], true);
	}
	ftr_call_end(ret == 0 ? fds[0] : ftr_call_result(ret), before);
	return ret;
}

/* An event at the begin with an address, which need not be there. */
static __attribute__((noinline))
struct ftr_call_open address_begin(uint32_t id, int fd, const struct sockaddr *address,
				   socklen_t bytes, const uintptr_t *slot)
{
	char text[FTR_NET_ADDRESS_MAX];
	const char *texts[] = { text };
	struct sockaddr_storage copy;
	uint32_t have = bytes < sizeof(copy) ? bytes : sizeof(copy);

	if (!ftr_interposed_copy(&copy, address, have, slot))
		have = 0;
	return ftr_call_begin_texts(id, NUMBER(fd), ftr_net_address(text, &copy, have), slot, texts,
				    1);
}

#define ADDRESS(kind) \
	address_begin(KIND(kind), fd, address, bytes, FTR_CALL_SLOT())

OURS(int, bind, (int fd, const struct sockaddr *address, socklen_t bytes))
{
	CALL(int, ADDRESS(BIND), REAL(bind)(fd, address, bytes));
}

OURS(int, connect, (int fd, const struct sockaddr *address, socklen_t bytes))
{
	CALL(int, ADDRESS(CONNECT), REAL(connect)(fd, address, bytes));
}

ON_FD(LISTEN, int, listen, (int fd, int backlog), fd, backlog, fd, backlog)
ON_FD(SHUTDOWN, int, shutdown, (int fd, int how), fd, how, fd, how)

/* The address that a call has put into its caller's memory: once more, as text. */
static __attribute__((noinline))
void address_end(int64_t result, const struct sockaddr *address, const socklen_t *bytes,
		 socklen_t room, struct ftr_call_open before, const uintptr_t *slot)
{
	char text[FTR_NET_ADDRESS_MAX];
	struct sockaddr_storage copy;
	socklen_t have = 0;

	if (result < 0 || address == NULL || !ftr_interposed_copy(&have, bytes, sizeof(have), slot))
		have = 0;
	have = have < room ? have : room;
	have = have < sizeof(copy) ? have : sizeof(copy);
	if (have > 0 && !ftr_interposed_copy(&copy, address, have, slot))
		have = 0;
	ftr_call_end_text(result, ftr_net_address(text, &copy, have), text, slot, before);
}

/* Where the caller does not want to know who connected, we do. */
#define ACCEPTS(name, params, flags, ...) \
	OURS(int, name, params) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		struct sockaddr_storage ours; \
		socklen_t our_bytes = sizeof(ours), room = 0; \
		struct ftr_call_open before; \
		int ret; \
\
		if (address == NULL) { \
			address = (struct sockaddr *)&ours; \
			bytes = &our_bytes; \
		} \
		(void)ftr_interposed_copy(&room, bytes, sizeof(room), FTR_CALL_SLOT()); \
		before = ftr_call_begin_with(KIND(ACCEPT), NUMBER(fd), NUMBER(flags), \
					     FTR_CALL_SLOT()); \
		ret = REAL(name)(__VA_ARGS__); \
		socket_set(ret, true); \
		address_end(ftr_call_result(ret), address, bytes, room, before, \
			    FTR_CALL_SLOT()); \
		return ret; \
	}
ACCEPTS(accept, (int fd, struct sockaddr *address, socklen_t *bytes), 0, fd, address, bytes)
ACCEPTS(accept4, (int fd, struct sockaddr *address, socklen_t *bytes, int flags), flags, fd,
	address, bytes, flags)

/* ---- descriptors ---- */

OURS(int, close, (int fd))
{
	if (!is_socket(fd))
		return REAL(close)(fd);
	socket_set(fd, false);		/* before another thread is given the same number */
	CALL(int, ftr_call_begin(KIND(CLOSE), NUMBER(fd), FTR_CALL_SLOT()), REAL(close)(fd));
}

/* A duplicate is what it duplicates; of a socket it is an event. */
#define DUPLICATE(to, ...) \
	struct ftr_call_open before = { 0 }; \
	bool is_of_socket = is_socket(fd); \
	int ret; \
\
	if (is_of_socket) \
		before = ftr_call_begin_with(KIND(DUP), NUMBER(fd), NUMBER(to), FTR_CALL_SLOT()); \
	ret = __VA_ARGS__; \
	if (ret >= 0) \
		socket_set(ret, is_of_socket); \
	if (is_of_socket) \
		ftr_call_end(ftr_call_result(ret), before); \
	return ret

OURS(int, dup, (int fd))
{
	DUPLICATE(-1, REAL(dup)(fd));
}

OURS(int, dup2, (int fd, int to))
{
	DUPLICATE(to, REAL(dup2)(fd, to));
}

OURS(int, dup3, (int fd, int to, int flags))
{
	DUPLICATE(to, REAL(dup3)(fd, to, flags));
}

#define FCNTL(name) \
	OURS(int, name, (int fd, int command, void *argument)) \
	{ \
		if (command != F_DUPFD && command != F_DUPFD_CLOEXEC) \
			return REAL_AS(__typeof__(&fcntl), name)(fd, command, argument); \
		DUPLICATE((intptr_t)argument, \
			  REAL_AS(__typeof__(&fcntl), name)(fd, command, argument)); \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- bytes ---- */

#define ON_SOCKET(kind, name, params, bytes, ...) \
	OURS(ssize_t, name, params) \
	{ \
		if (!is_socket(fd)) \
			return REAL(name)(__VA_ARGS__); \
		CALL(ssize_t, ftr_call_begin_with(KIND(kind), NUMBER(fd), bytes, FTR_CALL_SLOT()), \
		     REAL(name)(__VA_ARGS__)); \
	}
#define PIECES() ftr_call_pieces(pieces, nr, FTR_CALL_SLOT())
ON_SOCKET(RECEIVE, read, (int fd, void *to, size_t bytes), bytes, fd, to, bytes)
ON_SOCKET(RECEIVE, __read_chk, (int fd, void *to, size_t bytes, size_t room), bytes, fd, to, bytes,
	  room)
ON_SOCKET(RECEIVE, readv, (int fd, const struct iovec *pieces, int nr), PIECES(), fd, pieces, nr)
ON_SOCKET(SEND, write, (int fd, const void *from, size_t bytes), bytes, fd, from, bytes)
ON_SOCKET(SEND, writev, (int fd, const struct iovec *pieces, int nr), PIECES(), fd, pieces, nr)

ON_FD(RECEIVE, ssize_t, recv, (int fd, void *to, size_t bytes, int flags), fd, bytes, fd, to, bytes,
      flags)
ON_FD(RECEIVE, ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags), fd,
      bytes, fd, to, bytes, room, flags)
ON_FD(SEND, ssize_t, send, (int fd, const void *from, size_t bytes, int flags), fd, bytes, fd, from,
      bytes, flags)
ON_FD(SEND, ssize_t, sendfile, (int fd, int from, off_t *at, size_t bytes), fd, bytes, fd, from, at,
      bytes)
ON_FD(SEND, ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t bytes), fd, bytes, fd, from,
      at, bytes)

#define RECEIVES_FROM(name, params, ...) \
	OURS(ssize_t, name, params) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		socklen_t room = 0; \
		struct ftr_call_open before; \
		ssize_t ret; \
\
		if (address == NULL) { \
			CALL(ssize_t, ftr_call_begin_with(KIND(RECEIVE), NUMBER(fd), bytes, \
							  FTR_CALL_SLOT()), \
			     REAL(name)(__VA_ARGS__)); \
		} \
		(void)ftr_interposed_copy(&room, address_bytes, sizeof(room), FTR_CALL_SLOT()); \
		before = ftr_call_begin_with(KIND(RECEIVE_FROM), NUMBER(fd), bytes, \
					     FTR_CALL_SLOT()); \
		ret = REAL(name)(__VA_ARGS__); \
		address_end(ftr_call_result(ret), address, address_bytes, room, before, \
			    FTR_CALL_SLOT()); \
		return ret; \
	}
RECEIVES_FROM(recvfrom, (int fd, void *to, size_t bytes, int flags, struct sockaddr *address,
			 socklen_t *address_bytes), fd, to, bytes, flags, address, address_bytes)
RECEIVES_FROM(__recvfrom_chk, (int fd, void *to, size_t bytes, size_t room_, int flags,
			       struct sockaddr *address, socklen_t *address_bytes),
	      fd, to, bytes, room_, flags, address, address_bytes)

OURS(ssize_t, sendto, (int fd, const void *from, size_t bytes, int flags,
		       const struct sockaddr *address, socklen_t address_bytes))
{
	CALL(ssize_t, address == NULL ? ftr_call_begin_with(KIND(SEND), NUMBER(fd), bytes,
							    FTR_CALL_SLOT()) :
					address_begin(KIND(SEND_TO), fd, address, address_bytes,
						      FTR_CALL_SLOT()),
	     REAL(sendto)(fd, from, bytes, flags, address, address_bytes));
}

/* What a message has room for, or of; 0: not known. */
static __attribute__((noinline)) size_t message_bytes(const struct msghdr *message,
						      const uintptr_t *slot)
{
	struct msghdr copy;

	return ftr_interposed_copy(&copy, message, sizeof(copy), slot) ?
		       ftr_call_pieces(copy.msg_iov, (int)copy.msg_iovlen, slot) : 0;
}

ON_FD(RECEIVE, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), fd,
      message_bytes(message, FTR_CALL_SLOT()), fd, message, flags)

/* With an address or without. */
static __attribute__((noinline))
struct ftr_call_open message_begin(int fd, const struct msghdr *message, const uintptr_t *slot)
{
	struct msghdr copy;

	if (ftr_interposed_copy(&copy, message, sizeof(copy), slot) && copy.msg_name != NULL)
		return address_begin(KIND(SEND_TO), fd, copy.msg_name, copy.msg_namelen, slot);
	return ftr_call_begin_with(KIND(SEND), NUMBER(fd), message_bytes(message, slot), slot);
}

OURS(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	CALL(ssize_t, message_begin(fd, message, FTR_CALL_SLOT()),
	     REAL(sendmsg)(fd, message, flags));
}

/* Of several: as many bytes as the kernel has noted. */
static int64_t messages_bytes(const struct mmsghdr *messages, int nr, const uintptr_t *slot)
{
	int64_t total = nr < 0 ? ftr_call_result(nr) : 0;
	unsigned bytes;

	for (int i = 0; i < nr; i++) {
		if (ftr_interposed_copy(&bytes, &messages[i].msg_len, sizeof(bytes), slot))
			total += bytes;
	}
	return total;
}

#define MESSAGES(kind, name, params, ...) \
	OURS(int, name, params) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		struct ftr_call_open before = ftr_call_begin_with(KIND(kind), NUMBER(fd), 0, \
								  FTR_CALL_SLOT()); \
		int ret = REAL(name)(__VA_ARGS__); \
\
		ftr_call_end(messages_bytes(messages, ret, FTR_CALL_SLOT()), before); \
		return ret; \
	}
MESSAGES(RECEIVE, recvmmsg,
	 (int fd, struct mmsghdr *messages, unsigned nr, int flags, struct timespec *limit), fd,
	 messages, nr, flags, limit)
MESSAGES(SEND, sendmmsg, (int fd, struct mmsghdr *messages, unsigned nr, int flags), fd, messages,
	 nr, flags)

/* ---- waiting ---- */

#define WAITS(name, params, fd, nr, ...) ON_FD(WAIT, int, name, params, fd, nr, __VA_ARGS__)

WAITS(select, (int nr, fd_set *in, fd_set *out, fd_set *more, struct timeval *limit), -1, nr, nr,
      in, out, more, limit)
WAITS(pselect, (int nr, fd_set *in, fd_set *out, fd_set *more, const struct timespec *limit,
		const sigset_t *mask), -1, nr, nr, in, out, more, limit, mask)
WAITS(poll, (struct pollfd *fds, nfds_t nr, int limit), -1, nr, fds, nr, limit)
WAITS(__poll_chk, (struct pollfd *fds, nfds_t nr, int limit, size_t room), -1, nr, fds, nr, limit,
      room)
WAITS(ppoll, (struct pollfd *fds, nfds_t nr, const struct timespec *limit, const sigset_t *mask),
      -1, nr, fds, nr, limit, mask)
WAITS(__ppoll_chk, (struct pollfd *fds, nfds_t nr, const struct timespec *limit,
		    const sigset_t *mask, size_t room), -1, nr, fds, nr, limit, mask, room)
WAITS(epoll_wait, (int fd, struct epoll_event *events, int nr, int limit), fd, nr, fd, events, nr,
      limit)
WAITS(epoll_pwait, (int fd, struct epoll_event *events, int nr, int limit, const sigset_t *mask),
      fd, nr, fd, events, nr, limit, mask)
WAITS(epoll_pwait2, (int fd, struct epoll_event *events, int nr, const struct timespec *limit,
		     const sigset_t *mask), fd, nr, fd, events, nr, limit, mask)
