/* SPDX-License-Identifier: MIT */
/*
 * ftr recv: store the data that "ftr record --host" sends, of many at a time; with a name of a
 * server, what "ftr serve" sends.
 */
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/recv_stream.h"
#include "utils/base/bits.h"
#include "utils/base/vec.h"
#include "utils/cli/common.h"
#include "utils/remote/receive.h"
#include "utils/remote/tcp.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS_MAX 250
#define READ_BYTES FTR_KIB(64)
#define LOOPBACK "127.0.0.1"

struct recv_values {
	struct ftr_common common;
	const char *bind, *port;
	const char *command;		/* (nullable) to run for each trace */
	const char *output, *token;	/* (nullable) of a stream */
};

static const struct recv_values recv_defaults = { .bind = LOOPBACK, .port = FTR_WIRE_PORT };

static const struct ftr_option recv_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct recv_values, common),
	FTR_OPTION("bind", 0, "ADDR",
		   "Listen at ADDR (default: " LOOPBACK "; 0.0.0.0 is any of this machine's)",
		   ftr_opt_string, struct recv_values, bind),
	FTR_OPTION("port", 0, "PORT", "Listen at PORT (default: " FTR_WIRE_PORT ")", ftr_opt_string,
		   struct recv_values, port),
	FTR_OPTION("run-cmd", 0, "CMD",
		   "Have a shell run CMD behind each trace, whose name is in FTR_TRACE",
		   ftr_opt_string, struct recv_values, command),
	FTR_OPTION("output", 'o', "FILE",
		   "Of HOST:PORT: keep the stream in FILE; - is standard output",
		   ftr_opt_string, struct recv_values, output),
	FTR_OPTION("token", 0, "TEXT", "Of HOST:PORT: what ftr serve --token wants to hear",
		   ftr_opt_string, struct recv_values, token),
	{ 0 }
};

struct client {
	int fd;
	char name[FTR_TCP_NAME_BYTES];
	struct ftr_receive receive;
};

struct server {
	const struct recv_values *values;
	int fd;
	FTR_VEC(struct client *) clients;
	FTR_VEC(struct pollfd) polled;	/* the server's, then the clients' */
};

static volatile sig_atomic_t is_ending;

static void on_signal(int signal_nr)
{
	if (signal_nr != SIGCHLD)
		is_ending = 1;
}

static bool is_taken(void *arg, const char *path)
{
	const struct server *server = arg;

	for (size_t i = 0; i < server->clients.nr; i++) {
		const char *taken = server->clients.v[i]->receive.path;

		if (taken != NULL && strcmp(taken, path) == 0)
			return true;
	}
	return false;
}

static void run_command(const char *command, const char *trace)
{
	sigset_t none;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		ftr_warn("recv: --run-cmd: %s", strerror(errno));
	if (pid != 0)
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("FTR_TRACE", trace, 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(FTR_EXIT_NOT_FOUND);
}

static void client_add(struct server *server, int fd)
{
	struct client *client = calloc(1, sizeof(*client));
	char name[FTR_TCP_NAME_BYTES];
	const char *refusal = NULL;

	if (server->clients.nr >= CLIENTS_MAX)
		refusal = "too many others send already; it may try again later";
	else if (client == NULL || ftr_vec_push(&server->clients, client) < 0)
		refusal = "out of memory";
	if (refusal != NULL) {
		ftr_warn("recv: %s was refused: %s", ftr_tcp_name(fd, false, name), refusal);
		free(client);
		close(fd);
		return;
	}
	client->fd = fd;
	snprintf(client->name, sizeof(client->name), "%s", ftr_tcp_name(fd, false, name));
	ftr_receive_init(&client->receive);
	client->receive.is_taken = is_taken;
	client->receive.arg = server;
}

/* What the sender sees as the end of the connection says whether all was stored. */
static void client_close(struct client *client, bool was_done)
{
	struct linger reset = { .l_onoff = 1 };

	if (!was_done)
		setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(client->fd);
	free(client);
}

static void client_end(struct server *server, size_t i, const char *why)
{
	struct client *client = server->clients.v[i];
	bool was_done = client->receive.state == FTR_RECEIVE_DONE;
	char *trace = client->receive.path != NULL ? strdup(client->receive.path) : NULL;

	ftr_receive_close(&client->receive);
	if (was_done)
		ftr_verbose(0, "%s: %llu bytes from %s", trace,
			    (unsigned long long)client->receive.bytes, client->name);
	else if (trace != NULL)
		ftr_warn("recv: %s: %s: %s; what had arrived is in %s", client->name, trace, why,
			 trace);
	else
		ftr_warn("recv: %s: %s", client->name, why);
	client_close(client, was_done);
	server->clients.v[i] = server->clients.v[--server->clients.nr];
	if (was_done && trace != NULL && server->values->command != NULL)
		run_command(server->values->command, trace);
	free(trace);
}

static void client_read(struct server *server, size_t i)
{
	static uint8_t bytes[READ_BYTES];
	struct client *client = server->clients.v[i];
	struct ftr_err err = { 0 };
	ssize_t n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0)
		client_end(server, i, strerror(errno));
	else if (n == 0)
		client_end(server, i, "the sender ended before it was done");
	else if (ftr_receive_feed(&client->receive, bytes, (size_t)n, &err) < 0)
		client_end(server, i, err.text);
	else if (client->receive.state == FTR_RECEIVE_DONE)
		client_end(server, i, NULL);
}

static bool polled_make(struct server *server)
{
	server->polled.nr = 0;
	if (ftr_vec_push(&server->polled, ((struct pollfd){ server->fd, POLLIN, 0 })) < 0)
		return false;
	for (size_t i = 0; i < server->clients.nr; i++) {
		if (ftr_vec_push(&server->polled,
				 ((struct pollfd){ server->clients.v[i]->fd, POLLIN, 0 })) < 0)
			return false;
	}
	return true;
}

static int serve(struct server *server, const sigset_t *awake)
{
	while (is_ending == 0) {
		if (!polled_make(server)) {
			ftr_error("recv: out of memory");
			return FTR_EXIT_FAILED;
		}
		if (ppoll(server->polled.v, server->polled.nr, NULL, awake) < 0) {
			while (waitpid(-1, NULL, WNOHANG) > 0)	/* of --run-cmd */
				;
			continue;
		}
		/* The last takes the place of one that ends. */
		for (size_t i = server->clients.nr; i-- > 0;)
			if (server->polled.v[i + 1].revents != 0)
				client_read(server, i);
		if (server->polled.v[0].revents != 0) {
			int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

			if (fd >= 0)
				client_add(server, fd);
		}
	}
	while (server->clients.nr > 0)
		client_end(server, server->clients.nr - 1, "ftr recv was interrupted");
	return FTR_EXIT_OK;
}

/* Signals come while we wait, and at no other time. */
static void signals_take(sigset_t *awake)
{
	static const int nrs[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	struct sigaction action = { .sa_handler = on_signal }, before;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(nrs) / sizeof(nrs[0]); i++) {
		if (sigaction(nrs[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN &&
		    nrs[i] != SIGCHLD)
			continue;
		sigaddset(&set, nrs[i]);
		sigaction(nrs[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &set, awake);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a limit is a write that fails */
}

static int listen_say(struct server *server)
{
	char name[FTR_TCP_NAME_BYTES];
	struct ftr_err err = { 0 };

	server->fd = ftr_tcp_listen(server->values->bind, server->values->port, &err);
	if (server->fd < 0) {
		ftr_error("recv: cannot listen: %s; choose another --port or --bind", err.text);
		return FTR_EXIT_FAILED;
	}
	ftr_verbose(0, "listening at %s for ftr record --host; Ctrl-C ends it",
		    ftr_tcp_name(server->fd, true, name));
	if (ftr_tcp_is_open(server->fd))
		ftr_warn("recv: whoever reaches that address may store data here, and nothing is "
			 "encrypted; use it in networks that you trust");
	return FTR_EXIT_OK;
}

/* As the client of a server: what is about storing other things, or nothing here, is refused. */
static int recv_from(const struct recv_values *values, const char *peer)
{
	const struct ftr_recv_stream recv = {
		.common = &values->common, .peer = peer,
		.output = values->output, .token = values->token,
	};

	if (values->common.data != NULL || values->command != NULL ||
	    strcmp(values->bind, recv_defaults.bind) != 0 ||
	    strcmp(values->port, recv_defaults.port) != 0) {
		ftr_error("recv: -d, --bind, --port and --run-cmd are for data that others send, "
			  "not for %s", peer);
		return FTR_EXIT_USAGE;
	}
	return ftr_recv_stream(&recv);
}

static int recv_run(void *arg, int argc, char **argv)
{
	struct server server = { .values = arg, .fd = -1 };
	const char *dir = server.values->common.data;
	sigset_t awake;
	int status;

	if (argc > 1 || (argc == 1 && strchr(argv[0], ':') == NULL)) {
		ftr_error("recv: %s: takes HOST:PORT of \"ftr serve\" or no operand; name the "
			  "directory for traces with -d", argv[argc - 1]);
		return FTR_EXIT_USAGE;
	}
	if (argc == 1)
		return recv_from(server.values, argv[0]);
	if (server.values->output != NULL || server.values->token != NULL) {
		ftr_error("recv: -o and --token are about a stream; name its HOST:PORT");
		return FTR_EXIT_USAGE;
	}
	if (dir != NULL && ((mkdir(dir, 0755) < 0 && errno != EEXIST) || chdir(dir) < 0)) {
		ftr_error("recv: %s: %s; choose another directory with -d", dir, strerror(errno));
		return FTR_EXIT_FAILED;
	}
	signals_take(&awake);
	status = listen_say(&server);
	if (status == FTR_EXIT_OK) {
		status = serve(&server, &awake);
		close(server.fd);
	}
	ftr_vec_fini(&server.clients);
	ftr_vec_fini(&server.polled);
	return status;
}

const struct ftr_cmd ftr_cmd_recv = {
	.name	      = "recv",
	.usage	      = "[OPTION...] [HOST:PORT]",
	.summary      = "Store what record --host sends, or show what serve sends",
	.options      = recv_options,
	.values_bytes = sizeof(struct recv_values),
	.defaults     = &recv_defaults,
	.run	      = recv_run,
};
