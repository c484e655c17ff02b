/* SPDX-License-Identifier: MIT */
/* TCP sockets by names of hosts and ports. */
#ifndef FTR_REMOTE_TCP_H
#define FTR_REMOTE_TCP_H

#include <stdbool.h>

#include "utils/base/err.h"

#define FTR_TCP_NAME_BYTES 80	/* "[2001:db8::1]:8090" */

/*
 * Connect to @host (a name or an address) at @port, or listen there: a descriptor, closed at exec;
 * -errno and a text that names both.  A peer that answers nothing for a minute counts as gone.
 */
int ftr_tcp_connect(const char *host, const char *port, struct ftr_err *err);
int ftr_tcp_listen(const char *host, const char *port, struct ftr_err *err);

/* Who is at the other end of @fd, or with @is_own where @fd itself is. */
const char *ftr_tcp_name(int fd, bool is_own, char name[FTR_TCP_NAME_BYTES]);
/* Can other machines reach the listening socket @fd? */
bool ftr_tcp_is_open(int fd);

#endif /* FTR_REMOTE_TCP_H */
