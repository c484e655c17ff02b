/* SPDX-License-Identifier: MIT */
/*
 * What --probe=net records, in functions by their names; what each call gives is compared with what
 * it must be, traced or not.  The server's port is any.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BYTES 100

static int failures, listening;
static struct sockaddr_in server_address;

static void expect(long got, long wanted, const char *what)
{
	if (got != wanted) {
		fprintf(stderr, "%s: %ld, not %ld (%s)\n", what, got, wanted, strerror(errno));
		failures++;
	}
}

/* Two connections: the first one is read by recv, the second by read, without asking who it is. */
NOINLINE void *server(void *arg)
{
	struct sockaddr_in peer;
	socklen_t bytes = sizeof(peer);
	char data[BYTES];
	int fd;

	fd = accept(listening, (struct sockaddr *)&peer, &bytes);
	expect(peer.sin_family, AF_INET, "who is accepted");
	expect(recv(fd, data, BYTES, MSG_WAITALL), BYTES, "recv");
	expect(send(fd, data, 30, 0), 30, "send");
	expect(close(fd), 0, "close");
	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	expect(fcntl(fd, F_GETFD), FD_CLOEXEC, "accept4");
	expect(read(fd, data, BYTES), 7, "read");
	expect(close(fd), 0, "close");
	return NULL;
}

static void server_start(pthread_t *thread)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	socklen_t bytes = sizeof(server_address);

	listening = socket(AF_INET, SOCK_STREAM, 0);
	expect(bind(listening, (struct sockaddr *)&any, sizeof(any)), 0, "bind");
	expect(listen(listening, 5), 0, "listen");
	getsockname(listening, (struct sockaddr *)&server_address, &bytes);
	pthread_create(thread, NULL, server, NULL);
}

NOINLINE void client(void)
{
	struct iovec pieces[2] = { { "abc", 3 }, { "defg", 4 } };
	struct pollfd wanted;
	char data[BYTES] = "";
	int fd = socket(AF_INET, SOCK_STREAM, 0), other;

	expect(connect(fd, (struct sockaddr *)&server_address, sizeof(server_address)), 0,
	       "connect");
	expect(write(fd, data, BYTES), BYTES, "write");
	wanted = (struct pollfd){ .fd = fd, .events = POLLIN };
	expect(poll(&wanted, 1, -1), 1, "poll");
	expect(recv(fd, data, 30, MSG_WAITALL), 30, "recv");
	expect(shutdown(fd, SHUT_RDWR), 0, "shutdown");
	expect(close(fd), 0, "close");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	expect(connect(fd, (struct sockaddr *)&server_address, sizeof(server_address)), 0,
	       "connect");
	other = dup(fd);
	expect(close(fd), 0, "close");
	expect(writev(other, pieces, 2), 7, "writev");
	expect(close(other), 0, "close");
}

NOINLINE void datagrams(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "datagrams" }, from;
	struct iovec piece = { "12345", 5 };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	socklen_t bytes = sizeof(from);
	char data[BYTES];
	int to = socket(AF_UNIX, SOCK_DGRAM, 0), fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	expect(bind(to, (struct sockaddr *)&address, sizeof(address)), 0, "bind");
	expect(sendto(fd, "abcd", 4, 0, (struct sockaddr *)&address, sizeof(address)), 4, "sendto");
	expect(recvfrom(to, data, BYTES, 0, (struct sockaddr *)&from, &bytes), 4, "recvfrom");
	expect(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0, "connect");
	expect(sendmsg(fd, &message, 0), 5, "sendmsg");
	piece = (struct iovec){ data, BYTES };
	expect(recvmsg(to, &message, 0), 5, "recvmsg");
	close(to);
	close(fd);
	unlink("datagrams");
}

static const struct sockaddr *volatile nowhere = (const struct sockaddr *)16;

NOINLINE void errors(void)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(9),
				   .sin6_addr.s6_addr = { 0x20, 1, 0xd, 0xb8, [15] = 7 } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	expect(connect(fd, nowhere, 16), -1, "connect");
	expect(errno, EFAULT, "connect");
	expect(connect(fd, (struct sockaddr *)&v6, sizeof(v6)), -1, "connect");
	expect(errno, EAFNOSUPPORT, "connect");
	expect(accept(fd, (struct sockaddr *)nowhere, NULL), -1, "accept");
	expect(errno, EINVAL, "accept");
	expect(send(77, "", 1, 0), -1, "send");
	expect(errno, EBADF, "send");
	expect(socket(-1, SOCK_STREAM, 0), -1, "socket");
	expect(close(fd), 0, "close");
	expect(close(77), -1, "close");
}

/* What a child between vfork and exec closes is not its parent's. */
NOINLINE void pairs(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct timeval limit = { 0, 0 };
	char data[BYTES];
	int fds[2], status, poller = epoll_create1(0);
	pid_t child;

	expect(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "socketpair");
	child = vfork();
	if (child == 0) {
		close(fds[0]);
		close(fds[1]);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	expect(waitpid(child, &status, 0) == child ? status : -1, 0, "child");
	expect(write(fds[0], "xyz", 3), 3, "write");
	epoll_ctl(poller, EPOLL_CTL_ADD, fds[1], &event);
	expect(epoll_wait(poller, &event, 1, -1), 1, "epoll_wait");
	expect(read(fds[1], data, BYTES), 3, "read");
	expect(select(0, NULL, NULL, NULL, &limit), 0, "select");
	close(fds[0]);
	close(fds[1]);
	close(poller);
	/* The same numbers are no sockets now. */
	status = open("/dev/zero", O_RDONLY);
	expect(read(status, data, 5), 5, "read");
	close(status);
}

static atomic_bool is_cleaned;

static void clean(void *arg)
{
	atomic_store(&is_cleaned, true);
}

NOINLINE void *cancelled_accept(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	expect(accept(listening, NULL, NULL), -2, "a cancelled accept");
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancelling(void)
{
	pthread_t thread;
	void *answer;

	pthread_create(&thread, NULL, cancelled_accept, NULL);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, &answer);
	expect(answer == PTHREAD_CANCELED && atomic_load(&is_cleaned), 1, "cancelled");
}

int main(void)
{
	pthread_t thread;

	server_start(&thread);
	client();
	pthread_join(thread, NULL);
	datagrams();
	errors();
	pairs();
	cancelling();
	close(listening);
	return failures != 0;
}
