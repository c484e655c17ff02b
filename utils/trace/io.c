/* SPDX-License-Identifier: MIT */
/* See io.h. */
#include "utils/trace/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "utils/trace/args.h"
#include "utils/trace/task.h"

#define OPEN_MAX 4			/* calls of a task: a handler's are inside of others */

struct open_calls {
	struct ftr_io_call calls[OPEN_MAX];
	unsigned nr;
};

void ftr_io_init(struct ftr_io *io)
{
	memset(io, 0, sizeof(*io));
	ftr_strpool_init(&io->names);
	ftr_hashmap_init(&io->by_fd);
	ftr_strbuf_init(&io->text);
	io->open.bytes = sizeof(struct open_calls);
}

void ftr_io_fini(struct ftr_io *io)
{
	ftr_strpool_fini(&io->names);
	ftr_hashmap_fini(&io->by_fd);
	ftr_per_task_fini(&io->open);
	ftr_strbuf_fini(&io->text);
}

/* ---- names ---- */

static uint64_t fd_key(const struct ftr_task *task, int64_t fd)
{
	return ftr_hash_u64((uint32_t)task->pid) ^ (uint64_t)fd;
}

static const struct ftr_task *parent_process(const struct ftr_task *task)
{
	while (task->parent != NULL && task->parent->pid == task->pid)
		task = task->parent;
	return task->parent;
}

/* A forked child has what its parent has, until it closes it.  NULL: nothing is known. */
static const char *fd_known(const struct ftr_io *io, const struct ftr_task *task, int64_t fd)
{
	const void *found = NULL;

	for (; task != NULL && found == NULL; task = parent_process(task))
		found = ftr_hashmap_find(&io->by_fd, fd_key(task, fd));
	return found == NULL || found == &io->by_fd ? NULL : ((const struct ftr_str *)found)->s;
}

static int fd_give(struct ftr_io *io, const struct ftr_task *task, int64_t fd, const char *name)
{
	const struct ftr_str *str = name == NULL ? NULL :
						   ftr_strpool_get(&io->names, name, strlen(name));

	if (name != NULL && str == NULL)
		return -ENOMEM;
	return ftr_hashmap_set(&io->by_fd, fd_key(task, fd),
			       str != NULL ? (void *)str : (void *)&io->by_fd);
}

/* What is in the text is kept.  NULL: out of memory. */
static const char *text_keep(struct ftr_io *io)
{
	const struct ftr_str *str = io->text.failed ? NULL :
				    ftr_strpool_get(&io->names, ftr_strbuf_str(&io->text),
						    io->text.len);

	return str != NULL ? str->s : NULL;
}

static const char *fd_name(struct ftr_io *io, const struct ftr_task *task, int64_t fd)
{
	static const char *const standard[] = { "stdin", "stdout", "stderr" };
	const char *name = fd_known(io, task, fd);

	if (name != NULL)
		return name;
	ftr_strbuf_clear(&io->text);
	if (fd < 0)
		ftr_strbuf_puts(&io->text, "(no descriptor)");
	else if (fd < 3)
		ftr_strbuf_puts(&io->text, standard[fd]);
	else
		ftr_strbuf_printf(&io->text, "fd %lld", (long long)fd);
	return text_keep(io);
}

/* A path below a directory that is known. */
static const char *path_name(struct ftr_io *io, const struct ftr_task *task, int64_t dir,
			     const char *path)
{
	const char *below = path[0] == '/' || dir == AT_FDCWD ? NULL : fd_known(io, task, dir);

	if (below == NULL)
		return path;
	ftr_strbuf_clear(&io->text);
	ftr_strbuf_printf(&io->text, "%s/%s", below, path);
	return text_keep(io);
}

/* ---- calls ---- */

static const char *value_text(struct ftr_io *io, const struct ftr_value *value)
{
	ftr_strbuf_clear(&io->text);
	ftr_strbuf_put(&io->text, value->str.s, strnlen(value->str.s, value->str.len));
	return text_keep(io);
}

static int call_read(struct ftr_io *io, const struct ftr_event *ev, struct ftr_io_call *call)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;

	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		const char *name = value.arg->name != NULL ? value.arg->name : "";
		bool is_text = value.arg->format == FTR_ARG_STRING;

		if (value.arg->format > FTR_ARG_OCTAL && value.arg->format != FTR_ARG_POINTER &&
		    !is_text)
			continue;	/* of another tracer's event of this name */
		if (is_text && strcmp(name, "address") == 0 && call->is_end)
			call->peer = value_text(io, &value);
		else if (strcmp(name, "family") == 0 && call->is_end)
			call->peer_family = value.u;
		else if (is_text && (strcmp(name, "path") == 0 || strcmp(name, "address") == 0))
			call->path = value_text(io, &value);
		else if (is_text && strcmp(name, "to") == 0)
			call->to = value_text(io, &value);
		else if (is_text)
			continue;
		else if (strcmp(name, "caller") == 0)
			call->caller = value.u;
		else if (strcmp(name, "result") == 0)
			call->result = value.i;
		else if (nr == 1)
			call->fd = value.i;
		else
			call->argument = value.u;
	}
	return io->text.failed ? -ENOMEM : 0;
}

static const char *begin_name(struct ftr_io *io, const struct ftr_task *task,
			      const struct ftr_io_call *call)
{
	if (call->kind->id == FTR_EVENT_ID_NET_SOCKET)
		return "socket";
	if (call->kind->id == FTR_EVENT_ID_NET_WAIT && call->fd < 0)
		return "poll or select";
	if (call->kind->id == FTR_EVENT_ID_NET_WAIT) {
		ftr_strbuf_clear(&io->text);
		ftr_strbuf_printf(&io->text, "epoll %lld", (long long)call->fd);
		return text_keep(io);
	}
	if (call->path == NULL || call->path[0] == '\0')
		return fd_name(io, task, call->fd);
	return ftr_io_is_net(call->kind) ? call->path :
					   path_name(io, task, call->fd, call->path);
}

static bool is_close(const struct ftr_io_call *call)
{
	uint64_t id = call->kind->id;

	return id == FTR_EVENT_ID_FILE_CLOSE || id == FTR_EVENT_ID_NET_CLOSE;
}

static int call_begins(struct ftr_io *io, struct open_calls *open, const struct ftr_task *task,
		       struct ftr_io_call *call)
{
	call->has_begin = true;
	call->name = begin_name(io, task, call);
	if (call->name == NULL)
		return -ENOMEM;
	if (open->nr == OPEN_MAX)	/* the oldest one will never end */
		memmove(open->calls, open->calls + 1, --open->nr * sizeof(open->calls[0]));
	open->calls[open->nr++] = *call;
	/* Before close returns another thread may have got the descriptor for something else. */
	return is_close(call) ? fd_give(io, task, call->fd, NULL) : 0;
}

/* Who sends to @local: all peers of one host, whose ports are any, together. */
static const char *from_name(struct ftr_io *io, const char *local, const char *peer)
{
	const char *end = strrchr(peer, ':');
	size_t host = end == NULL || end == peer ? strlen(peer) : (size_t)(end - peer);

	if (host == 0)
		return local;
	ftr_strbuf_clear(&io->text);
	ftr_strbuf_printf(&io->text, "%s from %.*s", local, (int)host, peer);
	return text_keep(io);
}

/* A call has told who the peer is: by whom, of an accepted connection, its descriptor is known. */
static int peer_follow(struct ftr_io *io, const struct ftr_task *task, struct ftr_io_call *call)
{
	const char *name = from_name(io, call->name, call->peer != NULL ? call->peer : "");

	if (name == NULL)
		return -ENOMEM;
	if (call->kind->id == FTR_EVENT_ID_NET_ACCEPT)
		return fd_give(io, task, call->result, name);
	call->name = name;
	return 0;
}

/* What descriptors lead to from now on. */
static int fds_follow(struct ftr_io *io, const struct ftr_task *task, struct ftr_io_call *call)
{
	if (call->kind->id == FTR_EVENT_ID_NET_CONNECT &&
	    (call->result >= 0 || call->result == -EINPROGRESS))
		return fd_give(io, task, call->fd, call->name);
	if (call->result < 0)
		return 0;
	switch (call->kind->id) {
	case FTR_EVENT_ID_NET_SOCKET:
		return fd_give(io, task, call->result, "socket");
	case FTR_EVENT_ID_NET_BIND:
		return fd_give(io, task, call->fd, call->name);
	case FTR_EVENT_ID_NET_ACCEPT:
	case FTR_EVENT_ID_NET_RECEIVE_FROM:
		return peer_follow(io, task, call);
	case FTR_EVENT_ID_NET_DUP:
		return fd_give(io, task, call->result, call->name);
	case FTR_EVENT_ID_FILE_OPEN:
	case FTR_EVENT_ID_FILE_OPENDIR:
		return fd_give(io, task, call->result, call->has_begin ? call->name : NULL);
	case FTR_EVENT_ID_FILE_DUP:
		return call->result == call->fd ? 0 :
						  fd_give(io, task, call->result, call->name);
	default:
		return 0;
	}
}

static int call_ends(struct ftr_io *io, struct open_calls *open, const struct ftr_task *task,
		     struct ftr_io_call *call)
{
	struct ftr_io_call end = *call;
	unsigned i = open->nr;

	while (i > 0 && open->calls[i - 1].kind != call->kind)
		i--;
	if (i > 0) {
		*call = open->calls[i - 1];
		open->nr = i - 1;
	} else {
		call->name = fd_name(io, task, call->fd);
	}
	call->is_end = true;
	call->result = end.result;
	call->peer = end.peer;
	call->peer_family = end.peer_family;
	return call->name == NULL ? -ENOMEM : fds_follow(io, task, call);
}

int ftr_io_next(struct ftr_io *io, const struct ftr_event *ev, struct ftr_io_call *call)
{
	struct open_calls *open;
	bool is_end;
	uint64_t id;
	int ret;

	if (ev->type != FTR_EVENT_POINT || ev->payload == NULL || ev->payload->spec == NULL)
		return 0;
	id = ftr_event_kind_id(ev);
	if (id < FTR_EVENT_ID_FILE_READ || id > FTR_EVENT_ID_NET_LAST)
		return 0;
	is_end = (id - FTR_EVENT_ID_FILE_READ) % 2 != 0;
	*call = (struct ftr_io_call){ .kind = ftr_event_kind_by_id(id - is_end), .is_end = is_end };
	open = ftr_per_task_get(&io->open, ev->task);
	if (call->kind == NULL || open == NULL)
		return open == NULL ? -ENOMEM : 0;
	ret = call_read(io, ev, call);
	if (ret == 0)
		ret = is_end ? call_ends(io, open, ev->task, call) :
			       call_begins(io, open, ev->task, call);
	return ret < 0 ? ret : 1;
}
