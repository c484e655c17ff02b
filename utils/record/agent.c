/* SPDX-License-Identifier: MIT */
/* The agent's sockets and clients. */
#include "utils/record/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "utils/base/clock.h"

#define HEADER_BYTES sizeof(struct ftr_agent_header)
#define MESSAGE_BYTES (HEADER_BYTES + FTR_AGENT_BYTES_MAX)
#define OLD_WORD_BYTES 4u		/* uftrace 0.13 */
#define NUMBER_CHARS 24

enum epoll_tag { TAG_LISTENER, TAG_CLIENT };

static int watch(const struct ftr_agent *agent, int fd, enum epoll_tag tag, int op)
{
	struct epoll_event event = {
		.events = tag == TAG_LISTENER && agent->is_full ? 0 : EPOLLIN,
		.data.u64 = tag,
	};

	return epoll_ctl(agent->epoll_fd, op, fd, &event);
}

static int listener_socket(const struct ftr_agent *agent, const struct sockaddr_un *address,
			   socklen_t bytes)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)address, bytes) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    watch(agent, fd, TAG_LISTENER, EPOLL_CTL_ADD) == 0)
		return fd;
	code = errno;
	close(fd);
	return -code;
}

static int listen_abstract(const struct ftr_agent *agent, int32_t pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int len = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			   FTR_AGENT_NAME "%" PRId32, pid);

	return listener_socket(agent, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
							    1 + (size_t)len));
}

static void path_make(int32_t pid, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path), FTR_AGENT_DIR "/%" PRId32 ".socket",
		 pid);
}

/* A directory of someone else's may lead anywhere. */
static bool directory_is_ours(void)
{
	struct stat st;

	if (mkdir(FTR_AGENT_DIR, 0755) < 0 && errno != EEXIST)
		return false;
	return lstat(FTR_AGENT_DIR, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & S_IWOTH) == 0;
}

/* What an agent that was killed left behind? */
static bool is_dead(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is_refused = fd >= 0 &&
			  connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
			  errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return is_refused;
}

static int listen_path(const struct ftr_agent *agent, int32_t pid)
{
	struct sockaddr_un address;
	int fd;

	if (!directory_is_ours())
		return -EACCES;
	path_make(pid, &address);
	fd = listener_socket(agent, &address, sizeof(address));
	if (fd == -EADDRINUSE && is_dead(&address) && unlink(address.sun_path) == 0)
		fd = listener_socket(agent, &address, sizeof(address));
	if (fd >= 0)
		chmod(address.sun_path, 0600);
	return fd;
}

static void unwatch_close(const struct ftr_agent *agent, int fd)
{
	epoll_ctl(agent->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

static void listener_close(const struct ftr_agent *agent, const struct ftr_agent_listener *listener)
{
	struct sockaddr_un address;

	if (listener->abstract_fd >= 0)
		unwatch_close(agent, listener->abstract_fd);
	if (listener->path_fd >= 0) {
		path_make(listener->pid, &address);
		unlink(address.sun_path);
		unwatch_close(agent, listener->path_fd);
	}
}

static struct ftr_agent_listener *listener_find(const struct ftr_agent *agent, int32_t pid)
{
	for (size_t i = 0; i < agent->listeners.nr; i++) {
		if (agent->listeners.v[i].pid == pid)
			return &agent->listeners.v[i];
	}
	return NULL;
}

int ftr_agent_listen(struct ftr_agent *agent, int32_t pid, struct ftr_err *err)
{
	struct ftr_agent_listener listener = { .pid = pid };
	int worst;

	if (listener_find(agent, pid) != NULL)
		return 0;
	listener.abstract_fd = listen_abstract(agent, pid);
	listener.path_fd = listen_path(agent, pid);
	if (ftr_vec_push(&agent->listeners, listener) < 0) {
		listener_close(agent, &listener);
		return ftr_err_set(err, ENOMEM, "agent of process %d: out of memory", pid);
	}
	worst = listener.path_fd < 0 ? listener.path_fd : listener.abstract_fd;
	if (worst >= 0)
		return 0;
	return ftr_err_set(err, -worst, "agent of process %d: %s: %s; %s", pid,
			   listener.path_fd < 0 ? FTR_AGENT_DIR : FTR_AGENT_NAME, strerror(-worst),
			   listener.abstract_fd >= 0 ? "uftrace cannot reach it, ftr ctl can" :
						       "ftr ctl may not reach it");
}

void ftr_agent_unlisten(struct ftr_agent *agent, int32_t pid)
{
	struct ftr_agent_listener *listener = listener_find(agent, pid);

	if (listener == NULL)
		return;
	listener_close(agent, listener);
	*listener = agent->listeners.v[--agent->listeners.nr];
}

static void listeners_rewatch(struct ftr_agent *agent, bool is_full)
{
	if (agent->is_full == is_full)
		return;
	agent->is_full = is_full;
	for (size_t i = 0; i < agent->listeners.nr; i++) {
		const struct ftr_agent_listener *listener = &agent->listeners.v[i];

		if (listener->abstract_fd >= 0)
			watch(agent, listener->abstract_fd, TAG_LISTENER, EPOLL_CTL_MOD);
		if (listener->path_fd >= 0)
			watch(agent, listener->path_fd, TAG_LISTENER, EPOLL_CTL_MOD);
	}
}

static void client_remove(struct ftr_agent *agent, unsigned i)
{
	unwatch_close(agent, agent->clients[i].fd);
	free(agent->clients[i].message);
	agent->client_nr--;
	memmove(&agent->clients[i], &agent->clients[i + 1],
		(agent->client_nr - i) * sizeof(agent->clients[0]));
}

/* False: it is gone, or does not read what it asks for. */
static bool answer(const struct ftr_agent_client *client, enum ftr_agent_type type,
		   const void *bytes, size_t len)
{
	struct ftr_agent_header header = {
		.magic = FTR_AGENT_MAGIC, .type = (uint16_t)type, .bytes = (uint32_t)len,
	};
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)bytes, len } };
	struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(client->fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)(sizeof(header) + len);
}

static bool answer_text(const struct ftr_agent_client *client, enum ftr_agent_type type,
			const char *text)
{
	return answer(client, type, text, strlen(text));
}

/* SET_OPT's value as the words of a change; *number is room for one. */
static bool option_read(struct ftr_agent_client *client, uint32_t bytes,
			struct ftr_agent_change *change, char number[NUMBER_CHARS])
{
	const char *value = client->message + HEADER_BYTES + sizeof(uint32_t);
	uint64_t long_value = 0;
	uint32_t option;
	int32_t int_value = 0;

	if (bytes <= sizeof(option))
		return false;
	memcpy(&option, client->message + HEADER_BYTES, sizeof(option));
	bytes -= (uint32_t)sizeof(option);
	memcpy(&int_value, value, bytes < sizeof(int_value) ? bytes : sizeof(int_value));
	memcpy(&long_value, value, bytes < sizeof(long_value) ? bytes : sizeof(long_value));
	change->value = number;
	switch (option) {
	case FTR_AGENT_OPT_TRACE:
		*change = (struct ftr_agent_change){ "trace", int_value != 0 ? "on" : "off" };
		return true;
	case FTR_AGENT_OPT_DEPTH:
		change->word = "depth";
		snprintf(number, NUMBER_CHARS, "%" PRId32, int_value);
		return true;
	case FTR_AGENT_OPT_TIME:
		change->word = "time-filter";
		snprintf(number, NUMBER_CHARS, "%" PRIu64 "ns", long_value);
		return true;
	case FTR_AGENT_OPT_PATTERN:
		client->has_globs = int_value == FTR_AGENT_PATTERN_GLOB;
		change->word = NULL;
		return true;
	case FTR_AGENT_OPT_FILTER:
		*change = (struct ftr_agent_change){ "filter", value };
		return true;
	case FTR_AGENT_OPT_CALLER:
		*change = (struct ftr_agent_change){ "caller-filter", value };
		return true;
	case FTR_AGENT_OPT_TRIGGER:
		*change = (struct ftr_agent_change){ "trigger", value };
		return true;
	default:
		return false;
	}
}

/* uftrace does not read what comes behind an ERR. */
static bool option_set(struct ftr_agent *agent, struct ftr_agent_client *client, uint32_t bytes)
{
	struct ftr_agent_ask ask = { .pid = client->pid, .peer_pid = client->peer_pid };
	struct ftr_agent_change change = { 0 };
	char number[NUMBER_CHARS];
	int ret = -EINVAL;

	if (option_read(client, bytes, &change, number)) {
		ask.has_globs = client->has_globs;
		ask.changes.v = &change;
		ask.changes.nr = change.word != NULL;
		ret = ask.changes.nr == 0 ? 0 : agent->handler.change(agent->handler.arg, &ask,
								      &(struct ftr_err){ 0 });
	}
	return answer(client, ret == 0 ? FTR_AGENT_OK : FTR_AGENT_ERR, NULL, 0);
}

/* "WORD\0VALUE\0" ... */
static int changes_read(const char *text, const char *end, struct ftr_agent_ask *ask,
			struct ftr_err *err)
{
	int ret = 0;

	while (ret == 0 && text < end) {
		struct ftr_agent_change change = { .word = text };

		text += strnlen(text, (size_t)(end - text)) + 1;
		change.value = text;
		if (text < end)
			text += strnlen(text, (size_t)(end - text)) + 1;
		if (change.value >= end || text > end)
			return ftr_err_set(err, EBADMSG, "a change is cut off");
		ret = ftr_vec_push(&ask->changes, change);
	}
	return ret == 0 ? 0 : ftr_err_set(err, ENOMEM, "out of memory");
}

static bool change(struct ftr_agent *agent, const struct ftr_agent_client *client, uint32_t bytes)
{
	struct ftr_agent_ask ask = { .pid = client->pid, .peer_pid = client->peer_pid };
	const char *text = client->message + HEADER_BYTES;
	struct ftr_err err = { 0 };
	int ret = changes_read(text, text + bytes, &ask, &err);

	if (ret == 0)
		ret = agent->handler.change(agent->handler.arg, &ask, &err);
	ftr_vec_fini(&ask.changes);
	return ret == 0 ? answer(client, FTR_AGENT_OK, NULL, 0) :
			  answer_text(client, FTR_AGENT_ERR, err.text);
}

static bool state(struct ftr_agent *agent, const struct ftr_agent_client *client)
{
	struct ftr_strbuf text;
	bool is_sent;

	ftr_strbuf_init(&text);
	agent->handler.state(agent->handler.arg, client->pid, &text);
	if (text.len > FTR_AGENT_BYTES_MAX)
		text.s[text.len = FTR_AGENT_BYTES_MAX] = '\0';
	is_sent = answer_text(client, FTR_AGENT_OK, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
	return is_sent;
}

/* False: hang up. */
static bool message_act(struct ftr_agent *agent, struct ftr_agent_client *client,
			const struct ftr_agent_header *header)
{
	uint32_t known = FTR_AGENT_OPTS | FTR_AGENT_IS_FTR;

	switch (header->type) {
	case FTR_AGENT_CLOSE:
		answer(client, FTR_AGENT_OK, NULL, 0);
		return false;
	case FTR_AGENT_QUERY:
		return answer(client, FTR_AGENT_OK, &known, sizeof(known));
	case FTR_AGENT_GET_OPT:
		return answer(client, FTR_AGENT_OK, NULL, 0);
	case FTR_AGENT_SET_OPT:
		return option_set(agent, client, header->bytes);
	case FTR_AGENT_CHANGE:
		return change(agent, client, header->bytes);
	case FTR_AGENT_STATE:
		return state(agent, client);
	default:
		return answer(client, FTR_AGENT_ERR, NULL, 0);
	}
}

/* A word of zeros: close. */
static void old_word_act(const struct ftr_agent_client *client)
{
	uint32_t word;

	memcpy(&word, client->message, sizeof(word));
	if (word == 0)
		(void)!send(client->fd, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Bytes that are wanted next of the message at hand; 0: it is whole, -1: it is none. */
static int64_t bytes_wanted(const struct ftr_agent_client *client,
			    struct ftr_agent_header *header)
{
	if (client->got < OLD_WORD_BYTES)
		return OLD_WORD_BYTES - client->got;
	memcpy(header, client->message, HEADER_BYTES);
	if (header->magic != FTR_AGENT_MAGIC)
		return -1;
	if (client->got < HEADER_BYTES)
		return (int64_t)HEADER_BYTES - client->got;
	if (header->bytes > FTR_AGENT_BYTES_MAX)
		return -1;
	return (int64_t)HEADER_BYTES + header->bytes - client->got;
}

/* False: hang up.  One message at most: others have their turn. */
static bool client_serve(struct ftr_agent *agent, struct ftr_agent_client *client)
{
	struct ftr_agent_header header;
	int64_t wanted;
	ssize_t len;

	while ((wanted = bytes_wanted(client, &header)) > 0) {
		len = recv(client->fd, client->message + client->got, (size_t)wanted, MSG_DONTWAIT);
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (len <= 0)
			return false;
		client->got += (uint32_t)len;
		client->since_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	}
	if (wanted < 0) {
		old_word_act(client);
		return false;
	}
	client->message[client->got] = '\0';	/* texts end there */
	client->got = 0;
	return message_act(agent, client, &header);
}

/* Root may do what the user may. */
static bool is_allowed(int fd, struct ucred *cred)
{
	socklen_t bytes = sizeof(*cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, cred, &bytes) == 0 &&
	       (cred->uid == geteuid() || cred->uid == 0);
}

static void client_add(struct ftr_agent *agent, int fd, int32_t pid)
{
	struct ftr_agent_client client = {
		.fd = fd, .pid = pid, .since_ns = ftr_clock_now_ns(CLOCK_MONOTONIC),
	};
	struct ucred cred = { 0 };

	if (!is_allowed(fd, &cred)) {
		answer_text(&client, FTR_AGENT_ERR, "the recording is another user's");
		close(fd);
		return;
	}
	client.peer_pid = cred.pid;
	client.message = calloc(1, MESSAGE_BYTES + 1);
	if (client.message == NULL || watch(agent, fd, TAG_CLIENT, EPOLL_CTL_ADD) < 0) {
		free(client.message);
		close(fd);
		return;
	}
	agent->clients[agent->client_nr++] = client;
}

static void accept_some(struct ftr_agent *agent, int fd, int32_t pid)
{
	int client;

	while (fd >= 0 && agent->client_nr < FTR_AGENT_CLIENTS_MAX &&
	       (client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		client_add(agent, client, pid);
}

static void clients_accept(struct ftr_agent *agent)
{
	for (size_t i = 0; i < agent->listeners.nr; i++) {
		const struct ftr_agent_listener *listener = &agent->listeners.v[i];

		accept_some(agent, listener->abstract_fd, listener->pid);
		accept_some(agent, listener->path_fd, listener->pid);
	}
}

/* There is no room, and others may wait: hang up on those that say nothing. */
static void idle_remove(struct ftr_agent *agent)
{
	uint64_t now = ftr_clock_now_ns(CLOCK_MONOTONIC);
	unsigned i = agent->client_nr;

	while (i-- > 0) {
		if (now - agent->clients[i].since_ns > FTR_AGENT_PATIENCE_NS)
			client_remove(agent, i);
	}
}

void ftr_agent_serve(struct ftr_agent *agent)
{
	unsigned i;

	for (i = agent->client_nr; i-- > 0;) {
		if (!client_serve(agent, &agent->clients[i]))
			client_remove(agent, i);
	}
	if (agent->client_nr == FTR_AGENT_CLIENTS_MAX)
		idle_remove(agent);
	clients_accept(agent);
	listeners_rewatch(agent, agent->client_nr == FTR_AGENT_CLIENTS_MAX);
}

int ftr_agent_open(struct ftr_agent *agent, const struct ftr_agent_handler *handler,
		   struct ftr_err *err)
{
	agent->handler = *handler;
	agent->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return agent->epoll_fd >= 0 ? 0 : ftr_err_set(err, errno, "agent: epoll: %s",
						      strerror(errno));
}

void ftr_agent_close(struct ftr_agent *agent)
{
	while (agent->client_nr > 0)
		client_remove(agent, agent->client_nr - 1);
	for (size_t i = 0; i < agent->listeners.nr; i++)
		listener_close(agent, &agent->listeners.v[i]);
	ftr_vec_fini(&agent->listeners);
	if (agent->epoll_fd >= 0)
		close(agent->epoll_fd);
	agent->epoll_fd = -1;
}
