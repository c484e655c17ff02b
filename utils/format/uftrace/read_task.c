/* SPDX-License-Identifier: MIT */
/* task.txt of a uftrace directory: SESS, TASK, FORK and DLOP lines; what each task ran when. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/task_line.h"

#define COMM_CHARS 15			/* as the kernel cuts them */
#define DLOPEN_SPAN FTR_BIT64(30)	/* a DLOP line lacks the library's end */

static int session_line(struct uft_reader *reader, const struct ftr_task_line *line)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_session *session = ftr_trace_session_new(trace, line->sid, line->pid,
							    line->time_ns);

	if (session == NULL)
		return -ENOMEM;
	if (line->name.s != NULL) {
		session->exename = ftr_arena_strndup(&trace->arena, line->name.s, line->name.len);
		if (session->exename == NULL)
			return -ENOMEM;
	}
	return uft_map_load(reader, session);
}

static int task_line(struct uft_reader *reader, const struct ftr_task_line *line)
{
	struct uft_task *task = uft_task_get(reader, line->pid, line->tid);

	if (task == NULL)
		return -ENOMEM;
	task->task->pid = line->pid;
	task->is_named = true;
	if (task->task->start_ns == 0)		/* an exec repeats the line */
		task->task->start_ns = line->time_ns;
	return 0;
}

static int side_fork(struct uft_task *parent, const struct ftr_task_line *line,
		     struct ftr_task *child)
{
	struct uft_side side = {
		.time_ns = line->time_ns,
		.kind = UFT_SIDE_FORK,
	};

	return uft_side_add(parent, side, child);
}

static int fork_line(struct uft_reader *reader, const struct ftr_task_line *line)
{
	struct uft_task *parent = uft_task_get(reader, line->ppid, line->ppid);
	struct uft_task *child = uft_task_get(reader, line->pid, line->pid);

	if (parent == NULL || child == NULL)
		return -ENOMEM;
	child->task->pid = line->pid;
	child->is_named = true;
	child->task->start_ns = line->time_ns;
	child->task->parent = parent->task;
	child->task->is_forked = true;
	if (ftr_vec_push(&parent->children, child) < 0)
		return -ENOMEM;
	child->fork_order = (uint32_t)parent->side.nr;
	return side_fork(parent, line, child->task);
}

static int dlopen_line(struct uft_reader *reader, const struct ftr_task_line *line)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_mapping mapping = { .start = line->base, .since_ns = line->time_ns,
				       .is_open = true };
	struct ftr_session *session = ftr_trace_session_find(trace, line->sid);
	char *path;

	if (session == NULL)
		return -ESRCH;
	path = ftr_arena_strndup(&trace->arena, line->name.s, line->name.len);
	mapping.module = path == NULL ? NULL : ftr_trace_module_get(trace, path, NULL);
	if (mapping.module == NULL)
		return -ENOMEM;
	mapping.end = mapping.start + DLOPEN_SPAN;
	if (mapping.end < mapping.start)
		mapping.end = UINT64_MAX;
	return ftr_session_map(session, &mapping);
}

/* 0, -ENOENT (unknown word), -EINVAL, -ESRCH (unknown session) or -ENOMEM. */
static int line_read(struct uft_reader *reader, struct ftr_slice text)
{
	static int (*const kinds[FTR_TASK_LINES])(struct uft_reader *,
						  const struct ftr_task_line *) = {
		[FTR_TASK_LINE_SESSION] = session_line,
		[FTR_TASK_LINE_TASK] = task_line,
		[FTR_TASK_LINE_FORK] = fork_line,
		[FTR_TASK_LINE_DLOPEN] = dlopen_line,
	};
	struct ftr_task_line line;
	int ret = ftr_task_line_parse(text, &line);

	return ret < 0 ? ret : kinds[line.kind](reader, &line);
}

static const char *damage_name(int ret)
{
	switch (ret) {
	case -ENOENT:
		return "unknown line is ignored";
	case -ESRCH:
		return "line of an unknown session is ignored";
	default:
		return "damaged line is ignored";
	}
}

/* 0 or -ENOMEM; damage is warned about. */
static int lines_read(struct uft_reader *reader, struct ftr_istream *in)
{
	const char *line;
	size_t len;
	int ret = 0;

	while (ret != -ENOMEM &&
	       ftr_istream_whole_line(in, &line, &len, reader->trace->diag)) {
		if (len == 0)
			continue;
		ret = line_read(reader, ftr_slice_make(line, len));
		if (ret < 0 && ret != -ENOMEM)
			ftr_diag_warn(reader->trace->diag, "task.txt:%u: %s: %.*s", in->lineno,
				      damage_name(ret), len > 80 ? 80 : (int)len, line);
	}
	return ret == -ENOMEM ? ret : 0;
}

/* A session whose map has still to be written. */
static bool is_unmapped(const struct uft_reader *reader, struct ftr_slice text)
{
	struct ftr_task_line line;
	char name[48];

	if (ftr_task_line_parse(text, &line) < 0 || line.kind != FTR_TASK_LINE_SESSION)
		return false;
	snprintf(name, sizeof(name), "sid-%s.map", line.sid);
	return !ftr_dir_has(reader->dir, name);
}

/* The bytes from @pos on of lines that are whole, and whose sessions have maps. */
static size_t lines_ready(const struct uft_reader *reader, const struct ftr_istream *in, size_t pos)
{
	size_t start = pos;

	while (pos < in->size) {
		const uint8_t *end = memchr(in->data + pos, '\n', in->size - pos);
		size_t len = end == NULL ? 0 : (size_t)(end - (in->data + pos));

		if (end == NULL ||
		    is_unmapped(reader, ftr_slice_make((const char *)in->data + pos, len)))
			break;
		pos += len + 1;
	}
	return pos - start;
}

int uft_tasks_more(struct uft_reader *reader, size_t *pos, bool waits)
{
	struct ftr_istream in;
	int ret = 0;

	if (ftr_dir_file(reader->dir, "task.txt", &in, NULL) < 0)
		return 0;
	if (waits) {
		size_t size = in.size;

		in.size = *pos + lines_ready(reader, &in, *pos);
		ret = size > in.size;
	}
	if (in.size > *pos) {
		in.pos = *pos;
		*pos = in.size;
		if (lines_read(reader, &in) < 0)
			ret = -ENOMEM;
	}
	ftr_istream_close(&in);
	return ret;
}

int uft_tasks_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_err reason;
	struct ftr_istream in;
	int ret;

	if (ftr_dir_file(reader->dir, "task.txt", &in, &reason) < 0) {
		ftr_diag_warn(reader->trace->diag, "%s: only tasks with data files are shown",
			      reason.text);
		return 0;
	}
	ret = lines_read(reader, &in);
	ftr_istream_close(&in);
	if (reader->unmapped_nr > 1)
		ftr_diag_warn(reader->trace->diag, "%u more sessions have no map, either",
			      reader->unmapped_nr - 1);
	return ret < 0 ? ftr_err_set(err, ENOMEM, "task.txt: out of memory") : 0;
}

/* The session that @parent ran at @time_ns. */
static struct ftr_session *session_at(const struct ftr_task *parent, uint64_t time_ns)
{
	struct ftr_session *session = NULL;

	for (uint32_t i = 0; i < parent->session_nr; i++) {
		if (i == 0 || parent->sessions[i]->start_ns <= time_ns)
			session = parent->sessions[i];
	}
	return session;
}

static int comm_from_session(struct ftr_trace *trace, struct ftr_task *task)
{
	const char *exename = task->sessions[0]->exename;
	const char *slash = strrchr(exename, '/');

	if (task->name[0] != '\0')
		return 0;
	exename = slash == NULL ? exename : slash + 1;
	task->name = ftr_arena_strndup(&trace->arena, exename, strnlen(exename, COMM_CHARS));
	return task->name == NULL ? -ENOMEM : 0;
}

struct linking {
	struct ftr_trace *trace;
	struct ftr_hashmap first_by_pid;	/* the first session of a process … */
	struct ftr_session **next;		/* … and by a session's id, the one after it */
	bool *is_done;				/* by a task's id */
	FTR_VEC(struct ftr_task *) chain;
	bool guesses;
	unsigned guessed_nr;			/* tasks that got one for that */
};

static int linking_init(struct linking *l)
{
	struct ftr_trace *trace = l->trace;
	struct ftr_hashmap last_by_pid;
	int ret = 0;

	ftr_hashmap_init(&l->first_by_pid);
	ftr_hashmap_init(&last_by_pid);
	l->next = calloc(trace->sessions.nr + 1, sizeof(struct ftr_session *));
	l->is_done = calloc(trace->tasks.nr + 1, sizeof(bool));
	if (l->next == NULL || l->is_done == NULL)
		ret = -ENOMEM;
	for (size_t i = 0; ret == 0 && i < trace->sessions.nr; i++) {
		struct ftr_session *session = trace->sessions.v[i];
		struct ftr_session *before = ftr_hashmap_find(&last_by_pid, (uint32_t)session->pid);

		if (before != NULL)
			l->next[before->id] = session;
		else
			ret = ftr_hashmap_set(&l->first_by_pid, (uint32_t)session->pid, session);
		if (ret == 0)
			ret = ftr_hashmap_set(&last_by_pid, (uint32_t)session->pid, session);
	}
	ftr_hashmap_fini(&last_by_pid);
	return ret;
}

static void linking_fini(struct linking *l)
{
	ftr_hashmap_fini(&l->first_by_pid);
	ftr_vec_fini(&l->chain);
	free(l->next);
	free(l->is_done);
}

/*
 * A process has its parent's session of the time when it was forked, then those of its own pid, in
 * the order of the file.
 */
static int process_link(struct linking *l, struct ftr_task *task)
{
	struct ftr_session *session = NULL;
	int ret = 0;

	if (task->parent != NULL)
		session = session_at(task->parent, task->start_ns);
	if (session != NULL)
		ret = ftr_trace_task_add_session(l->trace, task, session);
	session = ftr_hashmap_find(&l->first_by_pid, (uint32_t)task->pid);
	for (; ret == 0 && session != NULL; session = l->next[session->id])
		ret = ftr_trace_task_add_session(l->trace, task, session);
	if (ret == 0 && task->session_nr > 0)
		ret = comm_from_session(l->trace, task);
	return ret;
}

/* A thread runs what its process runs. */
static int thread_link(struct linking *l, struct ftr_task *task, struct ftr_task *leader)
{
	if (leader == NULL || leader == task || leader->session_nr == 0)
		return process_link(l, task);
	if (task->parent == NULL)
		task->parent = leader;
	task->sessions = leader->sessions;
	task->session_nr = leader->session_nr;
	return comm_from_session(l->trace, task);
}

/* A task whose session is lost: the first one is the best guess. */
static int session_guess(struct linking *l, struct ftr_task *task)
{
	struct ftr_trace *trace = l->trace;
	int ret;

	if (task->session_nr > 0 || trace->sessions.nr == 0)
		return 0;
	if (l->guessed_nr++ == 0)
		ftr_diag_warn(trace->diag, "task.txt: task %d has no session; resolving its "
			      "functions with session %s", task->tid, trace->sessions.v[0]->sid);
	ret = ftr_trace_task_add_session(trace, task, trace->sessions.v[0]);
	return ret < 0 ? ret : comm_from_session(trace, task);
}

/* Whose sessions @task has, too. */
static struct ftr_task *origin(const struct linking *l, const struct ftr_task *task)
{
	return ftr_task_is_main(task) ? task->parent : ftr_trace_task_find(l->trace, task->pid);
}

static int task_link(struct linking *l, struct ftr_task *task)
{
	int ret;

	if (task->session_nr > 0)
		return 0;
	ret = ftr_task_is_main(task) ? process_link(l, task) :
				       thread_link(l, task, origin(l, task));
	if (ret == 0 && l->guesses)
		ret = session_guess(l, task);
	return ret;
}

/*
 * The parent first, whatever the order of the tasks: a child has the smaller pid when pids began
 * again at the lowest.  (A cycle of parents, in damaged data, ends where it began.)
 */
static int family_link(struct linking *l, struct ftr_task *task)
{
	int ret = 0;

	for (; task != NULL && !l->is_done[task->id]; task = origin(l, task)) {
		l->is_done[task->id] = true;
		if (ftr_vec_push(&l->chain, task) < 0)
			return -ENOMEM;
	}
	while (ret == 0 && l->chain.nr > 0)
		ret = task_link(l, l->chain.v[--l->chain.nr]);
	return ret;
}

int uft_sessions_add(struct ftr_trace *trace, size_t from)
{
	int ret = 0;

	for (size_t i = from; ret == 0 && i < trace->sessions.nr; i++) {
		struct ftr_session *session = trace->sessions.v[i];
		struct ftr_task *task = ftr_trace_task_find(trace, session->pid);

		if (task != NULL && task->session_nr > 0 &&
		    task->sessions[task->session_nr - 1]->start_ns < session->start_ns)
			ret = ftr_trace_task_add_session(trace, task, session);
	}
	return ret;
}

int uft_tasks_link(struct ftr_trace *trace, bool guesses)
{
	struct linking l = { .trace = trace, .guesses = guesses };
	int ret = linking_init(&l);

	for (size_t i = 0; ret == 0 && i < trace->tasks.nr; i++)
		ret = family_link(&l, trace->tasks.v[i]);
	if (l.guessed_nr > 1)
		ftr_diag_warn(trace->diag, "task.txt: %u more tasks have no session, either",
			      l.guessed_nr - 1);
	linking_fini(&l);
	return ret;
}
