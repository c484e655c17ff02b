/* SPDX-License-Identifier: MIT */
/*
 * The server of ftr view, by libmicrohttpd, which is loaded when it is needed.  One thread: the
 * library does what can be done at once, and a request that takes time is suspended until the
 * process that answers it has ended (view_worker.h).
 *
 * The page shows what a program did, so nobody else may read it: the server listens on loopback
 * alone, the URL has a secret in it, which other users of the machine do not know, and a request
 * whose Host is another one comes from a page of the network whose name leads here.
 */
#include "cmds/view_serve.h"

#include "cmds/view_worker.h"
#include "utils/base/optional_library.h"
#include "utils/base/text.h"
#include "utils/remote/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libmicrohttpd.so.12"
#define TOKEN_BYTES 16
#define WORKERS_MAX 4
#define CONNECTIONS_MAX 64
#define IDLE_SECONDS 60
#define HOST_BYTES 64

static const char *const loopbacks[] = { "127.0.0.1", "::1" };
#define LOOPBACKS (sizeof(loopbacks) / sizeof(loopbacks[0]))

#define FUNCTIONS(X) \
	X(MHD_start_daemon) X(MHD_stop_daemon) X(MHD_run) X(MHD_get_daemon_info) \
	X(MHD_get_timeout) X(MHD_lookup_connection_value) X(MHD_suspend_connection) \
	X(MHD_resume_connection) X(MHD_create_response_from_buffer) \
	X(MHD_create_response_from_fd64) X(MHD_add_response_header) X(MHD_queue_response) \
	X(MHD_destroy_response)

static struct {
	FUNCTIONS(FTR_OPTIONAL_MEMBER)
} http;

#define ROW(name) FTR_OPTIONAL_ROW(http, name)
static const struct ftr_optional_row library_rows[] = { FUNCTIONS(ROW) };

static const struct ftr_optional_library library = {
	.user	 = "--serve",
	.name	 = LIBRARY,
	.package = "libmicrohttpd12",
	.rows	 = library_rows,
	.row_nr	 = sizeof(library_rows) / sizeof(library_rows[0]),
};

/* A request that a worker answers. */
struct waiting {
	struct MHD_Connection *connection;	/* NULL: nobody waits here */
	struct ftr_view_worker worker;
};

struct server {
	const struct ftr_view_site *site;
	struct MHD_Daemon *daemons[LOOPBACKS];	/* NULL: not at that address */
	struct waiting waiting[WORKERS_MAX];
	struct MHD_Response *page;
	char token[2 * TOKEN_BYTES + 1];
	char port[8];
	int signals;
};

const char *ftr_view_serve_library(void)
{
	return " libmicrohttpd";
}

int ftr_view_serve_check(struct ftr_err *err)
{
	return ftr_optional_library_load(&library, &http, err);
}

/* ---- answers ---- */

static const struct {
	const char *name, *value;
} headers[] = {
	{ "Cache-Control", "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; "
				     "style-src 'unsafe-inline'; connect-src 'self'; "
				     "base-uri 'none'; form-action 'none'; "
				     "frame-ancestors 'none'" },
};

static void response_describe(struct MHD_Response *response, const char *type)
{
	http.MHD_add_response_header_of(response, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		http.MHD_add_response_header_of(response, headers[i].name, headers[i].value);
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
				 const char *type, const void *text, size_t len)
{
	struct MHD_Response *response = http.MHD_create_response_from_buffer_of(
		len, (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result ret;

	if (response == NULL)
		return MHD_NO;
	response_describe(response, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		http.MHD_add_response_header_of(response, "Allow", "GET");
	ret = http.MHD_queue_response_of(connection, status, response);
	http.MHD_destroy_response_of(response);
	return ret;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return send_text(connection, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result send_answer(struct waiting *waiting)
{
	const struct ftr_view_worker *worker = &waiting->worker;

	return send_text(waiting->connection,
			 worker->has_failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK,
			 "application/json; charset=utf-8", worker->text.v, worker->text.nr);
}

/* ---- requests ---- */

static bool is_host(const struct server *server, const char *host)
{
	char own[HOST_BYTES];
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	if (host == NULL)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(own, sizeof(own), "%s:%s", names[i], server->port);
		if (strcasecmp(host, own) == 0 ||
		    (strcmp(server->port, "80") == 0 && strcasecmp(host, names[i]) == 0))
			return true;
	}
	return false;
}

/* What follows /TOKEN/, or NULL.  Takes as long for any wrong token. */
static const char *path_of(const struct server *server, const char *url)
{
	size_t len = strlen(server->token);
	unsigned differs = 0;

	if (strlen(url) < len + 2 || url[0] != '/' || url[len + 1] != '/')
		return NULL;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)url[i + 1] ^ (unsigned char)server->token[i];
	return differs == 0 ? url + len + 2 : NULL;
}

static bool number_of(struct MHD_Connection *connection, const char *name, uint64_t max,
		      uint64_t *value)
{
	const char *text = http.MHD_lookup_connection_value_of(connection, MHD_GET_ARGUMENT_KIND,
							       name);

	return text != NULL &&
	       ftr_parse_u64(ftr_slice_make(text, strlen(text)), 10, value) == 0 && *value <= max;
}

static bool request_parse(struct MHD_Connection *connection, const char *path,
			  struct ftr_view_request *request)
{
	uint64_t tid, depth;

	*request = (struct ftr_view_request){ .what = FTR_VIEW_SPANS };
	if (!number_of(connection, "from", UINT64_MAX, &request->from_ns) ||
	    !number_of(connection, "to", UINT64_MAX, &request->to_ns) ||
	    request->from_ns > request->to_ns)
		return false;
	if (strcmp(path, "spans") == 0)
		return true;
	if (!number_of(connection, "tid", INT32_MAX, &tid) ||
	    !number_of(connection, "depth", UINT32_MAX, &depth))
		return false;
	request->what = FTR_VIEW_CALL;
	request->tid = (int32_t)tid;
	request->depth = (uint32_t)depth;
	return true;
}

static struct waiting *waiting_find(struct server *server, struct MHD_Connection *connection)
{
	for (size_t i = 0; i < WORKERS_MAX; i++)
		if (server->waiting[i].connection == connection)
			return &server->waiting[i];
	return NULL;
}

static void waiting_fini(struct waiting *waiting)
{
	ftr_view_worker_fini(&waiting->worker);
	waiting->connection = NULL;
}

static enum MHD_Result ask_worker(struct server *server, struct MHD_Connection *connection,
				  const char *path)
{
	struct waiting *waiting = waiting_find(server, NULL);
	struct ftr_view_request request;

	if (!request_parse(connection, path, &request))
		return refuse(connection, MHD_HTTP_BAD_REQUEST,
			      "from, to, and of a call tid and depth, have to be numbers\n");
	if (waiting == NULL)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "so many requests are being answered; try again\n");
	if (ftr_view_worker_start(&waiting->worker, server->site, &request) < 0)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "no process could be started; try again\n");
	waiting->connection = connection;
	http.MHD_suspend_connection_of(connection);
	return MHD_YES;
}

/* Called when the headers are there, when what follows them is, and when it was resumed. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **of_request)
{
	struct server *server = arg;
	struct waiting *waiting = waiting_find(server, connection);
	const char *path;

	(void)version;
	(void)upload;
	if (waiting != NULL)
		return waiting->worker.is_done ? send_answer(waiting) : MHD_YES;
	if (strcmp(method, "GET") != 0) {
		*upload_bytes = 0;
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET alone is understood\n");
	}
	if (*of_request == NULL) {
		*of_request = server;		/* the next time is the right one to answer */
		return MHD_YES;
	}
	if (!is_host(server, http.MHD_lookup_connection_value_of(connection, MHD_HEADER_KIND,
								  "Host")))
		return refuse(connection, MHD_HTTP_FORBIDDEN, "this is no public host\n");
	path = path_of(server, url);
	if (path != NULL && path[0] == '\0')
		return http.MHD_queue_response_of(connection, MHD_HTTP_OK, server->page);
	if (path != NULL && (strcmp(path, "spans") == 0 || strcmp(path, "call") == 0))
		return ask_worker(server, connection, path);
	return refuse(connection, MHD_HTTP_NOT_FOUND,
		      "there is nothing here; the URL is what ftr view --serve printed\n");
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **of_request,
			 enum MHD_RequestTerminationCode code)
{
	struct waiting *waiting = waiting_find(arg, connection);

	(void)of_request;
	(void)code;
	if (waiting != NULL)
		waiting_fini(waiting);
}

/* ---- the server ---- */

static int token_make(char token[2 * TOKEN_BYTES + 1], struct ftr_err *err)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return ftr_err_set(err, errno, "getrandom: %s", strerror(errno));
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void port_get(int fd, char port[8])
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(address);
	uint16_t number = 0;

	getsockname(fd, (struct sockaddr *)&address, &len);
	if (address.ss_family == AF_INET)
		number = ((struct sockaddr_in *)&address)->sin_port;
	snprintf(port, 8, "%u", ntohs(number));
}

/* Takes @fd over. */
static struct MHD_Daemon *daemon_start(struct server *server, int fd)
{
	struct MHD_Daemon *daemon;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	daemon = http.MHD_start_daemon_of(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, server,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_END);
	if (daemon == NULL)
		close(fd);
	return daemon;
}

/* IPv6 is as good as there, or not. */
static int daemons_start(struct server *server, struct ftr_err *err)
{
	struct ftr_err unimportant;
	int fd = ftr_tcp_listen(loopbacks[0], server->site->port, err);

	if (fd < 0)
		return fd;
	port_get(fd, server->port);
	server->daemons[0] = daemon_start(server, fd);
	if (server->daemons[0] == NULL)
		return ftr_err_set(err, EIO, "--serve: " LIBRARY " does not start");
	fd = ftr_tcp_listen(loopbacks[1], server->port, &unimportant);
	if (fd >= 0)
		server->daemons[1] = daemon_start(server, fd);
	return 0;
}

static int page_make(struct server *server, struct ftr_err *err)
{
	struct stat st;
	int fd = fcntl(server->site->page, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0 && fstat(fd, &st) == 0)
		server->page = http.MHD_create_response_from_fd64_of((uint64_t)st.st_size, fd);
	if (server->page == NULL) {
		if (fd >= 0)
			close(fd);
		return ftr_err_set(err, ENOMEM, "--serve: the page cannot be kept");
	}
	response_describe(server->page, "text/html; charset=utf-8");
	return 0;
}

static int signals_open(sigset_t *before, struct ftr_err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);	/* a browser that goes away */
	sigprocmask(SIG_BLOCK, &set, before);
	sigdelset(&set, SIGPIPE);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd >= 0 ? fd : ftr_err_set(err, errno, "signalfd: %s", strerror(errno));
}

static void workers_read(struct server *server, const struct pollfd *fds)
{
	for (size_t i = 0; i < WORKERS_MAX; i++) {
		struct waiting *waiting = &server->waiting[i];

		if (fds[i].fd < 0 || fds[i].revents == 0 || waiting->connection == NULL)
			continue;
		ftr_view_worker_read(&waiting->worker);
		if (waiting->worker.is_done)
			http.MHD_resume_connection_of(waiting->connection);
	}
}

/* Milliseconds until one of the daemons has something to do by itself; -1: never. */
static int daemons_run(struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms, least = UINT64_MAX;

	for (size_t i = 0; i < LOOPBACKS; i++) {
		if (server->daemons[i] == NULL)
			continue;
		http.MHD_run_of(server->daemons[i]);
		if (http.MHD_get_timeout_of(server->daemons[i], &ms) == MHD_YES && ms < least)
			least = ms;
	}
	return least > 1000 * IDLE_SECONDS ? -1 : (int)least;
}

static int epoll_of(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info;

	if (daemon == NULL)
		return -1;
	info = http.MHD_get_daemon_info_of(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return info != NULL ? info->epoll_fd : -1;
}

enum { POLL_SIGNALS, POLL_DAEMONS, POLL_WORKERS = POLL_DAEMONS + LOOPBACKS,
       POLLS = POLL_WORKERS + WORKERS_MAX };

static void serve(struct server *server)
{
	struct signalfd_siginfo taken;
	struct pollfd fds[POLLS];

	for (size_t i = 0; i < POLLS; i++)
		fds[i] = (struct pollfd){ .events = POLLIN };
	fds[POLL_SIGNALS].fd = server->signals;
	for (size_t i = 0; i < LOOPBACKS; i++)
		fds[POLL_DAEMONS + i].fd = epoll_of(server->daemons[i]);
	while (fds[POLL_SIGNALS].revents == 0) {
		int ms = daemons_run(server);

		for (size_t i = 0; i < WORKERS_MAX; i++) {
			const struct waiting *waiting = &server->waiting[i];

			fds[POLL_WORKERS + i].fd =
				waiting->connection != NULL && !waiting->worker.is_done ?
					waiting->worker.fd : -1;
			fds[POLL_WORKERS + i].revents = 0;
		}
		if (poll(fds, POLLS, ms) > 0)
			workers_read(server, &fds[POLL_WORKERS]);
	}
	if (read(server->signals, &taken, sizeof(taken)) < 0)
		return;		/* it stays, and ends ftr later */
}

/* What is suspended has to go on before it can be stopped. */
static void server_fini(struct server *server)
{
	for (size_t i = 0; i < WORKERS_MAX; i++) {
		struct waiting *waiting = &server->waiting[i];

		if (waiting->connection != NULL && !waiting->worker.is_done) {
			http.MHD_resume_connection_of(waiting->connection);
			waiting_fini(waiting);
		}
	}
	for (size_t i = 0; i < LOOPBACKS; i++)
		if (server->daemons[i] != NULL)
			http.MHD_stop_daemon_of(server->daemons[i]);
	for (size_t i = 0; i < WORKERS_MAX; i++)
		waiting_fini(&server->waiting[i]);
	if (server->page != NULL)
		http.MHD_destroy_response_of(server->page);
	if (server->signals >= 0)
		close(server->signals);
}

int ftr_view_serve(const struct ftr_view_site *site, struct ftr_err *err)
{
	struct server server = { .site = site, .signals = -1 };
	char url[HOST_BYTES + sizeof(server.token)];
	sigset_t before;
	int ret = ftr_optional_library_load(&library, &http, err);

	if (ret < 0)
		return ret;
	server.signals = signals_open(&before, err);
	ret = server.signals;
	if (ret >= 0)
		ret = token_make(server.token, err);
	if (ret == 0)
		ret = page_make(&server, err);
	if (ret == 0)
		ret = daemons_start(&server, err);
	if (ret == 0) {
		snprintf(url, sizeof(url), "http://%s:%s/%s/", loopbacks[0], server.port,
			 server.token);
		site->ready(site->arg, url);
		serve(&server);
	}
	server_fini(&server);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}
