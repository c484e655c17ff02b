/* SPDX-License-Identifier: MIT */
/* ftr recv HOST:PORT: the client of ftr serve. */
#ifndef FTR_CMDS_RECV_STREAM_H
#define FTR_CMDS_RECV_STREAM_H

struct ftr_common;

struct ftr_recv_stream {
	const struct ftr_common *common;
	const char *peer;	/* "HOST:PORT" */
	const char *output;	/* (nullable: show it) the file that keeps the stream */
	const char *token;	/* (nullable) */
};

/* An exit status; what failed is reported. */
int ftr_recv_stream(const struct ftr_recv_stream *recv);

#endif /* FTR_CMDS_RECV_STREAM_H */
