/* SPDX-License-Identifier: MIT */
/* See tcp.h. */
#include "utils/remote/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define GONE_MS 60000
#define BACKLOG 128
#define SERVICE_BYTES 8

typedef int tcp_use_fn(int fd, const struct addrinfo *address);

static int use_connect(int fd, const struct addrinfo *address)
{
	const struct timeval gone = { .tv_sec = GONE_MS / 1000 };
	unsigned gone_ms = GONE_MS;

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof(gone_ms));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &gone, sizeof(gone));
	return connect(fd, address->ai_addr, address->ai_addrlen);
}

static int use_listen(int fd, const struct addrinfo *address)
{
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, address->ai_addr, address->ai_addrlen) < 0)
		return -1;
	return listen(fd, BACKLOG);
}

/* The first of the host's addresses that can be used; @code of the last that cannot. */
static int first_use(const struct addrinfo *address, tcp_use_fn *use, int *code)
{
	for (; address != NULL; address = address->ai_next) {
		int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC,
				address->ai_protocol);

		if (fd >= 0 && use(fd, address) == 0)
			return fd;
		*code = errno;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int tcp_open(const char *host, const char *port, int flags, tcp_use_fn *use,
		    struct ftr_err *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	struct addrinfo *addresses;
	int code = EADDRNOTAVAIL, fd, ret;

	ret = getaddrinfo(host, port, &hints, &addresses);
	if (ret != 0)
		return ftr_err_set(err, ENOENT, "%s:%s: %s", host, port,
				   ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
	fd = first_use(addresses, use, &code);
	freeaddrinfo(addresses);
	return fd >= 0 ? fd : ftr_err_set(err, code, "%s:%s: %s", host, port, strerror(code));
}

int ftr_tcp_connect(const char *host, const char *port, struct ftr_err *err)
{
	return tcp_open(host, port, 0, use_connect, err);
}

int ftr_tcp_listen(const char *host, const char *port, struct ftr_err *err)
{
	return tcp_open(host, port, AI_PASSIVE, use_listen, err);
}

const char *ftr_tcp_name(int fd, bool is_own, char name[FTR_TCP_NAME_BYTES])
{
	struct sockaddr_storage address = { 0 };
	socklen_t bytes = sizeof(address);
	char host[INET6_ADDRSTRLEN + 1], port[SERVICE_BYTES];
	int ret = is_own ? getsockname(fd, (struct sockaddr *)&address, &bytes) :
			   getpeername(fd, (struct sockaddr *)&address, &bytes);

	if (ret < 0 || getnameinfo((struct sockaddr *)&address, bytes, host, sizeof(host), port,
				   sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return "a peer that is gone";
	snprintf(name, FTR_TCP_NAME_BYTES, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
		 host, port);
	return name;
}

bool ftr_tcp_is_open(int fd)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { .any.ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address.any, &bytes) < 0)
		return true;
	if (address.any.ss_family == AF_INET)
		return *(const uint8_t *)&address.v4.sin_addr != IN_LOOPBACKNET;
	return address.any.ss_family != AF_INET6 || !IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
}
