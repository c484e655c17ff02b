/* SPDX-License-Identifier: MIT */
/* What ftr serve does for its clients, in a process beside the recorder. */
#ifndef FTR_CMDS_SERVE_CLIENTS_H
#define FTR_CMDS_SERVE_CLIENTS_H

#include <stdbool.h>

struct ftr_serve_clients {
	int listen_fd;
	int stream_fd;		/* of the stream that they get; its end is theirs */
	int ready_fd;		/* gets a byte once somebody is served; -1 = nobody waits for it */
	const char *token;	/* (nullable) */
	bool has_control;	/* the first connection asks; its START is what is waited for */
};

/* Until the stream has ended and everybody has it, or does not take it. */
void ftr_serve_clients(const struct ftr_serve_clients *serve);

#endif /* FTR_CMDS_SERVE_CLIENTS_H */
