/* SPDX-License-Identifier: MIT */
/* Addresses of sockets as texts, without libc: for libmcount-net.so. */
#ifndef FTR_LIBMCOUNT_NET_ADDRESS_H
#define FTR_LIBMCOUNT_NET_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

#define FTR_NET_ADDRESS_MAX 128

/*
 * "127.0.0.1:80", "[::1]:80", "unix:/run/x", "unix:@abstract", "family 16", or "" where there is
 * none: @bytes of @address.  Returns its family, 0 = none.
 */
uint64_t ftr_net_address(char text[FTR_NET_ADDRESS_MAX], const struct sockaddr_storage *address,
			 socklen_t bytes) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_NET_ADDRESS_H */
