/* SPDX-License-Identifier: MIT */
/* task.txt of a uftrace directory: SESS, TASK, FORK and DLOP lines; what each task ran when. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/uftrace_read.h"

#define SID_CHARS 16
#define COMM_CHARS 15			/* as the kernel cuts them */
#define DLOPEN_SPAN (UINT64_C(1) << 30)	/* a DLOP line does not say where the library ends */

/* KEY=VALUE pairs of one line. */
struct line {
	struct ftr_slice kind;
	struct ftr_slice rest;
	uint64_t time_ns;
};

/* The value after " key=" (or its plural spellings of old files: only the end of the key counts). */
static bool line_value(const struct line *line, const char *key, struct ftr_slice *value)
{
	struct ftr_slice word, rest = line->rest;
	size_t len = strlen(key);

	while (ftr_slice_split(&rest, ' ', &word)) {
		if (ftr_slice_starts(word, key) && word.len > len && word.s[len] == '=') {
			*value = ftr_slice_make(word.s + len + 1, word.len - len - 1);
			return true;
		}
	}
	return false;
}

/* Quoted without escapes: the last quote of the line ends it. */
static bool line_quoted(const struct line *line, const char *key, struct ftr_slice *value)
{
	struct ftr_slice rest = line->rest;
	size_t len = strlen(key);

	for (; rest.len > len + 2; rest.s++, rest.len--) {
		if (!ftr_slice_starts(rest, key) || rest.s[len] != '=' || rest.s[len + 1] != '"')
			continue;
		while (rest.len > len + 2 && rest.s[rest.len - 1] != '"')
			rest.len--;
		*value = ftr_slice_make(rest.s + len + 2, rest.len - len - 3);
		return rest.len > len + 2;
	}
	return false;
}

static bool line_id(const struct line *line, const char *key, int32_t *id)
{
	struct ftr_slice value;
	uint64_t number;

	if (!line_value(line, key, &value) || ftr_parse_u64(value, 10, &number) < 0 ||
	    number > INT32_MAX)
		return false;
	*id = (int32_t)number;
	return true;
}

static bool line_sid(const struct line *line, char sid[SID_CHARS + 1])
{
	struct ftr_slice value;

	if (!line_value(line, "sid", &value) || value.len != SID_CHARS ||
	    memchr(value.s, '/', value.len) != NULL || memchr(value.s, '\0', value.len) != NULL)
		return false;
	memcpy(sid, value.s, SID_CHARS);
	sid[SID_CHARS] = '\0';
	return true;
}

static int session_line(struct uft_reader *reader, const struct line *line)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_session *session;
	struct ftr_slice exename;
	char sid[SID_CHARS + 1];
	int32_t pid;

	/* Old files say tid=. */
	if (!line_sid(line, sid) || (!line_id(line, "pid", &pid) && !line_id(line, "tid", &pid)))
		return -EINVAL;
	session = ftr_trace_session_new(trace, sid, pid, line->time_ns);
	if (session == NULL)
		return -ENOMEM;
	if (line_quoted(line, "exename", &exename)) {
		session->exename = ftr_arena_strndup(&trace->arena, exename.s, exename.len);
		if (session->exename == NULL)
			return -ENOMEM;
	}
	return uft_map_load(reader, session);
}

static int task_line(struct uft_reader *reader, const struct line *line)
{
	struct uft_task *task;
	int32_t pid, tid;

	if (!line_id(line, "pid", &pid) || !line_id(line, "tid", &tid))
		return -EINVAL;
	task = uft_task_get(reader, pid, tid);
	if (task == NULL)
		return -ENOMEM;
	task->task->pid = pid;
	if (task->task->start_ns == 0)		/* a process says it again after exec */
		task->task->start_ns = line->time_ns;
	return 0;
}

static int side_fork(struct uft_task *parent, const struct line *line, struct ftr_task *child)
{
	struct uft_side side = {
		.time_ns = line->time_ns,
		.id = UFT_SIDE_FORK,
		.order = (uint32_t)parent->side.nr,
		.peer = child,
	};

	return ftr_vec_push(&parent->side, side);
}

static int fork_line(struct uft_reader *reader, const struct line *line)
{
	struct uft_task *parent, *child;
	int32_t pid, ppid;

	if (!line_id(line, "pid", &pid) || !line_id(line, "ppid", &ppid) || pid == ppid)
		return -EINVAL;
	parent = uft_task_get(reader, ppid, ppid);
	child = uft_task_get(reader, pid, pid);
	if (parent == NULL || child == NULL)
		return -ENOMEM;
	child->task->pid = pid;
	child->task->start_ns = line->time_ns;
	child->task->parent = parent->task;
	child->task->is_forked = true;
	if (ftr_vec_push(&parent->children, child) < 0)
		return -ENOMEM;
	return side_fork(parent, line, child->task);
}

static int dlopen_line(struct uft_reader *reader, const struct line *line)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_mapping mapping = { .since_ns = line->time_ns, .is_open = true };
	struct ftr_slice base, libname;
	struct ftr_session *session;
	char sid[SID_CHARS + 1];
	char *path;

	if (!line_sid(line, sid) || !line_value(line, "base", &base) ||
	    ftr_parse_u64(base, 16, &mapping.start) < 0 || !line_quoted(line, "libname", &libname))
		return -EINVAL;
	session = ftr_trace_session_find(trace, sid);
	if (session == NULL)
		return -ESRCH;
	path = ftr_arena_strndup(&trace->arena, libname.s, libname.len);
	mapping.module = path == NULL ? NULL : ftr_trace_module_get(trace, path, NULL);
	if (mapping.module == NULL)
		return -ENOMEM;
	mapping.end = mapping.start + DLOPEN_SPAN;
	if (mapping.end < mapping.start)
		mapping.end = UINT64_MAX;
	return ftr_session_map(session, &mapping);
}

static const struct {
	const char *kind;
	int (*read)(struct uft_reader *reader, const struct line *line);
} kinds[] = {
	{ "SESS", session_line },
	{ "TASK", task_line },
	{ "FORK", fork_line },
	{ "DLOP", dlopen_line },
};

/* 0, -ENOENT (unknown word), -EINVAL, -ESRCH (unknown session) or -ENOMEM. */
static int line_read(struct uft_reader *reader, struct ftr_slice text)
{
	struct line line = { .rest = text };
	struct ftr_slice time;

	ftr_slice_split(&line.rest, ' ', &line.kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!ftr_slice_eq(line.kind, kinds[i].kind))
			continue;
		if (!line_value(&line, "timestamp", &time) ||
		    ftr_parse_timestamp(time, &line.time_ns) < 0)
			return -EINVAL;
		return kinds[i].read(reader, &line);
	}
	return -ENOENT;
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

int uft_tasks_load(struct uft_reader *reader, struct ftr_err *err)
{
	struct ftr_err reason;
	struct ftr_istream in;
	const char *line;
	size_t len;
	int ret = 0;

	if (ftr_dir_file(reader->dir, "task.txt", &in, &reason) < 0) {
		ftr_diag_warn(reader->trace->diag, "%s: tasks are known by their data files only",
			      reason.text);
		return 0;
	}
	while (ret != -ENOMEM && ftr_istream_line(&in, &line, &len)) {
		if (len == 0)
			continue;
		ret = line_read(reader, ftr_slice_make(line, len));
		if (ret < 0 && ret != -ENOMEM)
			ftr_diag_warn(reader->trace->diag, "task.txt:%u: %s: %.*s", in.lineno,
				      damage_name(ret), len > 80 ? 80 : (int)len, line);
	}
	ftr_istream_close(&in);
	if (ret == -ENOMEM)
		return ftr_err_set(err, ENOMEM, "task.txt: out of memory");
	return 0;
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

/*
 * A process has its parent's session of the time when it was forked, then those of its own pid, in the
 * order of the file.  Parents come before children in it; damage can only lose names.
 */
static int process_link(struct uft_reader *reader, struct ftr_task *task,
			const struct ftr_hashmap *first_by_pid, struct ftr_session **next)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_session *session = NULL;
	int ret = 0;

	if (task->parent != NULL)
		session = session_at(task->parent, task->start_ns);
	if (session != NULL)
		ret = ftr_trace_task_add_session(trace, task, session);
	session = ftr_hashmap_find(first_by_pid, (uint32_t)task->pid);
	for (; ret == 0 && session != NULL; session = next[session->id])
		ret = ftr_trace_task_add_session(trace, task, session);
	if (ret == 0 && task->session_nr == 0 && trace->sessions.nr > 0) {
		ftr_diag_warn(trace->diag, "task.txt: no session of task %d: names are taken from "
			      "session %s", task->tid, trace->sessions.v[0]->sid);
		ret = ftr_trace_task_add_session(trace, task, trace->sessions.v[0]);
	}
	if (ret == 0 && task->session_nr > 0)
		ret = comm_from_session(trace, task);
	return ret;
}

/* A thread runs what its process runs. */
static int thread_link(struct uft_reader *reader, struct ftr_task *task)
{
	struct ftr_task *leader = ftr_trace_task_find(reader->trace, task->pid);

	if (leader == NULL || leader == task || leader->session_nr == 0)
		return -ESRCH;
	if (task->parent == NULL)
		task->parent = leader;
	task->sessions = leader->sessions;
	task->session_nr = leader->session_nr;
	return comm_from_session(reader->trace, task);
}

int uft_tasks_link(struct uft_reader *reader)
{
	struct ftr_trace *trace = reader->trace;
	struct ftr_hashmap first_by_pid, last_by_pid;
	struct ftr_session **next;
	int ret = 0;

	ftr_hashmap_init(&first_by_pid);
	ftr_hashmap_init(&last_by_pid);
	next = calloc(trace->sessions.nr + 1, sizeof(struct ftr_session *));
	if (next == NULL)
		ret = -ENOMEM;
	for (size_t i = 0; ret == 0 && i < trace->sessions.nr; i++) {
		struct ftr_session *session = trace->sessions.v[i];
		struct ftr_session *before = ftr_hashmap_find(&last_by_pid, (uint32_t)session->pid);

		if (before != NULL)
			next[before->id] = session;
		else
			ret = ftr_hashmap_set(&first_by_pid, (uint32_t)session->pid, session);
		if (ret == 0)
			ret = ftr_hashmap_set(&last_by_pid, (uint32_t)session->pid, session);
	}
	for (size_t i = 0; ret == 0 && i < trace->tasks.nr; i++) {
		if (ftr_task_is_main(trace->tasks.v[i]))
			ret = process_link(reader, trace->tasks.v[i], &first_by_pid, next);
	}
	for (size_t i = 0; ret == 0 && i < trace->tasks.nr; i++) {
		struct ftr_task *task = trace->tasks.v[i];

		if (ftr_task_is_main(task))
			continue;
		ret = thread_link(reader, task);
		if (ret == -ESRCH)
			ret = process_link(reader, task, &first_by_pid, next);
	}
	ftr_hashmap_fini(&first_by_pid);
	ftr_hashmap_fini(&last_by_pid);
	free(next);
	return ret;
}
