/* SPDX-License-Identifier: MIT */
/* See recv_stream.h. */
#include "cmds/recv_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/output.h"
#include "cmds/replay.h"
#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/remote/tcp.h"

#define READ_BYTES FTR_KIB(64)

/* A stream may be silent for as long as its program is. */
static int peer_connect(const char *host, const char *port)
{
	const struct timeval forever = { .tv_sec = 0 };
	struct ftr_err err = { 0 };
	int fd = ftr_tcp_connect(host, port, &err);

	if (fd < 0)
		ftr_error("recv: cannot connect to %s; start \"ftr serve\" there first", err.text);
	else
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
	return fd;
}

/* "HOST:PORT", "[2001:db8::1]:8001"; -1 after reporting the failure. */
static int peer_open(const char *peer)
{
	char *host = strdup(peer), *port = host == NULL ? NULL : strrchr(host, ':'), *name = host;
	size_t len;
	int fd = -1;

	if (port == NULL || port[1] == '\0' || port == host) {
		ftr_error("recv: \"%s\": name the server as HOST:PORT, which ftr serve says", peer);
		free(host);
		return -1;
	}
	*port++ = '\0';
	len = strlen(name);
	if (name[0] == '[' && len > 1 && name[len - 1] == ']') {
		name[len - 1] = '\0';
		name++;
	}
	fd = peer_connect(name, port);
	free(host);
	return fd;
}

static bool token_say(int fd, const char *token)
{
	return token == NULL ||
	       (send(fd, token, strlen(token), MSG_NOSIGNAL) == (ssize_t)strlen(token) &&
		send(fd, "\n", 1, MSG_NOSIGNAL) == 1);
}

/* What has come is in the file, whatever becomes of us.  The bytes, or -errno described. */
static int64_t stream_copy(int fd, struct ftr_ostream *out, struct ftr_err *err)
{
	uint8_t *bytes = malloc(READ_BYTES);
	int64_t total = 0;
	ssize_t n = -1;
	int ret = bytes == NULL ? ftr_err_set(err, ENOMEM, "out of memory") : 0;

	while (ret == 0 && n != 0) {
		n = recv(fd, bytes, READ_BYTES, 0);
		if (n < 0 && errno != EINTR)
			ret = ftr_err_set(err, errno, "the connection: %s", strerror(errno));
		if (n <= 0)
			continue;
		total += n;
		ftr_ostream_write(out, bytes, (size_t)n);
		ret = ftr_ostream_flush(out, err);
	}
	free(bytes);
	return ret < 0 ? ret : total;
}

static int stream_store(const struct ftr_recv_stream *recv, int fd)
{
	struct ftr_common plain = *recv->common;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	int64_t bytes;
	int status = FTR_EXIT_OK;

	plain.no_pager = true;
	if (ftr_output_open(&output, &plain, recv->output) < 0)
		return FTR_EXIT_FAILED;
	bytes = stream_copy(fd, &output.out, &err);
	if (bytes < 0 && !ftr_output_is_closed(&output)) {
		ftr_error("recv: %s: %s", recv->peer, err.text);
		status = FTR_EXIT_FAILED;
	}
	if (ftr_output_close(&output) != FTR_EXIT_OK)
		return FTR_EXIT_FAILED;
	if (status == FTR_EXIT_OK && bytes == 0) {
		ftr_error("recv: %s: the server sent nothing%s", recv->peer,
			  recv->token == NULL ? "; it may want a --token" :
						"; is the token right?");
		return FTR_EXIT_FAILED;
	}
	if (status == FTR_EXIT_OK)
		ftr_verbose(0, "%s: %lld bytes from %s", recv->output, (long long)bytes,
			    recv->peer);
	return status;
}

/* As it comes. */
static int stream_show(const struct ftr_recv_stream *recv, int fd)
{
	struct ftr_replay_values values = {
		.common = *recv->common, .view = { .column_offset = 8 }, .follows = true,
	};

	if (dup2(fd, STDIN_FILENO) < 0) {
		ftr_error("recv: %s", strerror(errno));
		return FTR_EXIT_FAILED;
	}
	values.common.data = "-";
	return ftr_replay_show(&values);
}

int ftr_recv_stream(const struct ftr_recv_stream *recv)
{
	int fd = peer_open(recv->peer), status;

	if (fd < 0)
		return FTR_EXIT_FAILED;
	if (!token_say(fd, recv->token)) {
		ftr_error("recv: %s: %s", recv->peer, strerror(errno));
		status = FTR_EXIT_FAILED;
	} else {
		status = recv->output != NULL ? stream_store(recv, fd) : stream_show(recv, fd);
	}
	close(fd);
	return status;
}
