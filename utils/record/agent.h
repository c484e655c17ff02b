/* SPDX-License-Identifier: MIT */
/* The agent's sockets and clients (utils/proto/agent.h): none of them is ever waited for. */
#ifndef FTR_RECORD_AGENT_H
#define FTR_RECORD_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/proto/agent.h"

#define FTR_AGENT_CLIENTS_MAX 64
#define FTR_AGENT_PATIENCE_NS 200000000u /* how long they may be idle while others wait */

struct ftr_agent_listener {
	int32_t pid;
	int abstract_fd, path_fd;	/* (owned) or -1 */
};

struct ftr_agent_client {
	int fd;				/* (owned) */
	int32_t pid;			/* the process whose socket it came by */
	int32_t peer_pid;		/* its own */
	uint32_t got;			/* bytes of the message at hand */
	bool has_globs;			/* what its rules are */
	uint64_t since_ns;		/* CLOCK_MONOTONIC of the last byte */
	char *message;			/* (owned) header, what follows, and a NUL */
};

/* The changes that a client asks for, to be made all or not at all. */
struct ftr_agent_change {
	const char *word, *value;	/* (borrowed) */
};

struct ftr_agent_ask {
	int32_t pid, peer_pid;
	bool has_globs;
	FTR_VEC(struct ftr_agent_change) changes;
};

struct ftr_agent_handler {
	void *arg;
	/* 0 or -errno with the reason. */
	int (*change)(void *arg, const struct ftr_agent_ask *ask, struct ftr_err *err);
	void (*state)(void *arg, int32_t pid, struct ftr_strbuf *text);
};

struct ftr_agent {
	int epoll_fd;			/* (owned) of all its sockets; -1 = there is no agent */
	struct ftr_agent_handler handler;
	FTR_VEC(struct ftr_agent_listener) listeners;
	struct ftr_agent_client clients[FTR_AGENT_CLIENTS_MAX];	/* oldest first */
	unsigned client_nr;
	bool is_full;			/* nobody is accepted for now */
};

int  ftr_agent_open(struct ftr_agent *agent, const struct ftr_agent_handler *handler,
		    struct ftr_err *err);
void ftr_agent_close(struct ftr_agent *agent);

/* Listen for @pid, if that is new.  0; -errno, described: at one address at most. */
int  ftr_agent_listen(struct ftr_agent *agent, int32_t pid, struct ftr_err *err);
/* The process has ended. */
void ftr_agent_unlisten(struct ftr_agent *agent, int32_t pid);

/* epoll_fd is readable, or some time has passed: accept, read, answer. */
void ftr_agent_serve(struct ftr_agent *agent);

#endif /* FTR_RECORD_AGENT_H */
