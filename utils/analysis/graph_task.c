/* SPDX-License-Identifier: MIT */
/* One pass over the events for times, commands and exits; at its end the tasks are linked. */
#include "utils/analysis/graph_task.h"

#include "utils/base/arena.h"
#include "utils/trace/args.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"
#include "utils/trace/session.h"
#include "utils/trace/syscall.h"
#include "utils/trace/trace.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define COMMAND_MAX 2000u	/* bytes of a command line that are shown */
#define EXIT_FINISHED 65536	/* uftrace's exit status of a recording that a trigger ended */

/* What is known of a task while events come. */
struct life {
	uint64_t first_ns;	/* of its calls; 0 = none yet */
	uint64_t last_ns;
	uint64_t sched_ns;	/* scheduled out inside of calls */
	uint64_t exit_ns;	/* 0 = not known */
	const char *exit;
	FTR_VEC(struct ftr_task_image) images;
};

struct task_sink {
	struct ftr_sink base;
	struct ftr_task_tree tree;
	struct ftr_per_task lives;
	struct ftr_arena arena;		/* texts */
	const struct ftr_trace *trace;
};

static struct task_sink *task_sink_of(struct ftr_sink *sink)
{
	return (struct task_sink *)sink;
}

/* ---- events ---- */

static const char *keep(struct task_sink *self, const char *text)
{
	return ftr_arena_strndup(&self->arena, text, strlen(text));
}

/* Does a shell take the word as it is? */
static bool is_plain(struct ftr_slice word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!isalnum((unsigned char)word.s[i]) && strchr("_@%+=:,./-", word.s[i]) == NULL)
			return false;
	return word.len > 0 && memchr(word.s, '\0', word.len) == NULL;
}

static void put_word(struct ftr_strbuf *text, struct ftr_slice word)
{
	if (is_plain(word)) {
		ftr_strbuf_put(text, word.s, word.len);
		return;
	}
	ftr_strbuf_putc(text, '"');
	for (size_t i = 0; i < word.len && text->len < COMMAND_MAX; i++) {
		if (word.s[i] == '"' || word.s[i] == '\\')
			ftr_strbuf_putc(text, '\\');
		ftr_value_put_byte(text, (unsigned char)word.s[i]);
	}
	ftr_strbuf_putc(text, '"');
}

/* gcc -c "a b.c": without arguments the program, of very many or long ones the first. */
static const char *command_text(struct task_sink *self, const struct ftr_syscall *call)
{
	struct ftr_strbuf text;
	const char *command;

	ftr_strbuf_init(&text);
	for (size_t i = 0; i < call->exec.argc; i++) {
		size_t len = text.len;

		if (i > 0)
			ftr_strbuf_putc(&text, ' ');
		put_word(&text, call->exec.argv[i]);
		if (text.len <= COMMAND_MAX)
			continue;
		text.len = len;
		ftr_strbuf_puts(&text, len > 0 ? " ..." : "...");
		break;
	}
	if (call->exec.argc == 0)
		ftr_strbuf_put(&text, call->exec.program.s, call->exec.program.len);
	command = keep(self, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
	return command;
}

/* A search along $PATH is one try. */
static int image_add(struct life *life, const struct ftr_task_image *image)
{
	struct ftr_task_image *last = life->images.nr > 0 ? &life->images.v[life->images.nr - 1] :
							    NULL;

	if (last == NULL || last->error == NULL || strcmp(last->command, image->command) != 0)
		return ftr_vec_push(&life->images, *image);
	*last = *image;
	return 0;
}

static int take_exec(struct task_sink *self, struct life *life, const struct ftr_syscall *call)
{
	struct ftr_task_image image = { .command = command_text(self, call) };
	const char *error = strerrorname_np(call->error);

	if (image.command == NULL)
		return -ENOMEM;
	if (call->is_failed) {
		image.error = keep(self, call->error != 0 && error != NULL ? error : "failed");
		if (image.error == NULL)
			return -ENOMEM;
	}
	return image_add(life, &image);
}

static const char *exit_text(struct task_sink *self, int status, int signal)
{
	const char *name = signal != 0 ? sigabbrev_np(signal) : NULL;
	char text[32];

	if (name != NULL)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "%d", status);
	return keep(self, text);
}

static int take_call(struct task_sink *self, struct life *life, const struct ftr_syscall *call)
{
	if (call->kind == FTR_SYSCALL_EXEC) {
		self->tree.has_syscalls = true;
		return take_exec(self, life, call);
	}
	if (call->kind != FTR_SYSCALL_EXIT)
		return 0;
	self->tree.has_syscalls = true;
	life->exit_ns = call->end_ns;
	life->exit = exit_text(self, ftr_syscall_exit_status(call), (int)call->exit.signal);
	return life->exit == NULL ? -ENOMEM : 0;
}

static int take_event(struct task_sink *self, struct life *life, const struct ftr_event *ev)
{
	if (ev->type == FTR_EVENT_POINT && ftr_event_ends_schedule(ev))
		life->sched_ns += ev->time_ns - ev->point.start_ns;
	if (ev->type > FTR_EVENT_EXIT)
		return 0;
	if (life->first_ns == 0)
		life->first_ns = ev->time_ns;
	life->last_ns = ev->time_ns;
	if (ev->type != FTR_EVENT_EXIT || ftr_event_syscall(ev) == NULL)
		return 0;
	return take_call(self, life, ftr_event_syscall(ev));
}

static int task_batch(struct ftr_sink *sink, const struct ftr_event *evs, size_t nr)
{
	struct task_sink *self = task_sink_of(sink);
	const struct ftr_task *task = NULL;
	struct life *life = NULL;
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		if (evs[i].task != task) {
			task = evs[i].task;
			life = ftr_per_task_get(&self->lives, task);
		}
		ret = life == NULL ? -ENOMEM : take_event(self, life, &evs[i]);
	}
	return ret < 0 ? ftr_err_set(sink->err, -ret, "graph: out of memory") : 0;
}

/* ---- the tree ---- */

/* Threads and children of threads belong to the process. */
static const struct ftr_task *owner_of(const struct ftr_trace *trace, const struct ftr_task *task)
{
	const struct ftr_task *owner = task->parent;

	if (!ftr_task_is_main(task))
		owner = ftr_trace_task_find(trace, task->pid);
	else if (owner != NULL && !ftr_task_is_main(owner))
		owner = ftr_trace_task_find(trace, owner->pid);
	return owner != NULL ? owner : task->parent;
}

/* Would @id be above itself below @above? */
static bool closes_ring(const struct ftr_task_tree *tree, uint32_t id, uint32_t above)
{
	while (above != id && above != FTR_TASK_NONE)
		above = tree->nodes.v[above].parent;
	return above == id;
}

/*
 * Damaged data can make a ring of parents: the one that would close it is a root.  That needs a
 * parent that stands after its child, so that no time is spent on the others.
 */
static int parents_set(struct ftr_task_tree *tree, const struct ftr_trace *trace)
{
	bool *is_late = calloc(tree->nodes.nr + 1, sizeof(*is_late));

	if (is_late == NULL)
		return -ENOMEM;
	for (uint32_t id = 0; id < tree->nodes.nr; id++) {
		const struct ftr_task *owner = owner_of(trace, trace->tasks.v[id]);

		if (owner == NULL)
			continue;
		if (owner->id > id)
			is_late[owner->id] = true;
		if ((owner->id == id || is_late[id]) && closes_ring(tree, id, owner->id))
			continue;
		tree->nodes.v[id].parent = owner->id;
	}
	free(is_late);
	return 0;
}

static void children_link(struct ftr_task_tree *tree)
{
	uint32_t last_root = FTR_TASK_NONE;

	for (uint32_t id = 0; id < tree->nodes.nr; id++) {
		uint32_t above = tree->nodes.v[id].parent;
		uint32_t *first = &tree->first_root, *last = &last_root;

		if (above != FTR_TASK_NONE) {
			first = &tree->nodes.v[above].first_child;
			last = &tree->nodes.v[above].last_child;
		}
		if (*last == FTR_TASK_NONE)
			*first = id;
		else
			tree->nodes.v[*last].next = id;
		*last = id;
	}
}

/* The images of a process of which no exec was seen. */
static int images_from_sessions(struct ftr_task_node *node)
{
	const struct ftr_task *task = node->task;
	uint32_t inherited = task->is_forked && task->session_nr > 0 &&
			     task->sessions[0]->pid != task->pid;
	int ret = 0;

	if (!ftr_task_is_main(task))
		return 0;
	for (uint32_t i = inherited; ret == 0 && i < task->session_nr; i++) {
		struct ftr_task_image image = { .command = task->sessions[i]->exename };

		if (image.command != NULL)
			ret = ftr_vec_push(&node->images, image);
	}
	return ret;
}

static int node_fill(struct task_sink *self, struct ftr_task_node *node, const struct life *life)
{
	uint64_t start_ns = life->first_ns, end_ns = life->last_ns;

	if (life->exit_ns != 0) {
		end_ns = life->exit_ns;
		if (node->task->start_ns != 0 && node->task->start_ns < start_ns)
			start_ns = node->task->start_ns;
	}
	node->total_ns = end_ns - start_ns;
	node->self_ns = node->total_ns > life->sched_ns ? node->total_ns - life->sched_ns : 0;
	node->exit = life->exit;
	if (ftr_vec_reserve(&node->images, life->images.nr) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < life->images.nr; i++)
		node->images.v[node->images.nr++] = life->images.v[i];
	return 0;
}

static int nodes_make(struct task_sink *self)
{
	const struct ftr_trace *trace = self->trace;
	struct ftr_task_tree *tree = &self->tree;
	static const struct life unknown;
	int ret = ftr_vec_reserve(&tree->nodes, trace->tasks.nr);

	for (size_t id = 0; ret == 0 && id < trace->tasks.nr; id++) {
		struct ftr_task_node *node = &tree->nodes.v[id];
		const struct life *life = ftr_hashmap_find(&self->lives.by_id, id);

		*node = (struct ftr_task_node){
			.task = trace->tasks.v[id],
			.parent = FTR_TASK_NONE,
			.first_child = FTR_TASK_NONE,
			.last_child = FTR_TASK_NONE,
			.next = FTR_TASK_NONE,
		};
		tree->nodes.nr++;
		ret = node_fill(self, node, life != NULL ? life : &unknown);
		if (ret == 0 && !tree->has_syscalls)
			ret = images_from_sessions(node);
	}
	return ret;
}

static int exit_from_info(struct task_sink *self)
{
	const struct ftr_info *info = &self->trace->info;
	struct ftr_task_node *first = self->tree.nodes.v;
	int signal;

	if (self->tree.nodes.nr == 0 || self->tree.has_syscalls ||
	    info->exit_status == EXIT_FINISHED || !(info->info_mask & FTR_INFO_EXIT_STATUS))
		return 0;
	signal = WIFSIGNALED(info->exit_status) ? WTERMSIG(info->exit_status) : 0;
	first->exit = exit_text(self, signal != 0 ? 128 + signal : WEXITSTATUS(info->exit_status),
				signal);
	return first->exit == NULL ? -ENOMEM : 0;
}

static int task_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	task_sink_of(sink)->trace = trace;
	return 0;
}

static int task_end(struct ftr_sink *sink)
{
	struct task_sink *self = task_sink_of(sink);

	if (nodes_make(self) < 0 || exit_from_info(self) < 0 ||
	    parents_set(&self->tree, self->trace) < 0)
		return ftr_err_set(sink->err, ENOMEM, "graph: out of memory");
	children_link(&self->tree);
	return 0;
}

static void task_fini(struct ftr_sink *sink)
{
	struct task_sink *self = task_sink_of(sink);
	struct life *life;
	size_t pos = 0;

	for (size_t i = 0; i < self->tree.nodes.nr; i++)
		ftr_vec_fini(&self->tree.nodes.v[i].images);
	ftr_vec_fini(&self->tree.nodes);
	while ((life = ftr_per_task_next(&self->lives, &pos)) != NULL)
		ftr_vec_fini(&life->images);
	ftr_per_task_fini(&self->lives);
	ftr_arena_fini(&self->arena);
}

static const struct ftr_sink_ops task_sink_ops = {
	.size	 = sizeof(struct task_sink),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = task_begin,
	.batch	 = task_batch,
	.end	 = task_end,
	.fini	 = task_fini,
};

struct ftr_sink *ftr_task_tree_new(struct ftr_err *err)
{
	struct ftr_sink *sink = ftr_sink_new(&task_sink_ops, NULL, err);

	if (sink == NULL) {
		ftr_err_set(err, ENOMEM, "graph: out of memory");
		return NULL;
	}
	ftr_arena_init(&task_sink_of(sink)->arena);
	task_sink_of(sink)->lives.bytes = sizeof(struct life);
	task_sink_of(sink)->tree.first_root = FTR_TASK_NONE;
	return sink;
}

const struct ftr_task_tree *ftr_task_tree_get(const struct ftr_sink *sink)
{
	return &((const struct task_sink *)sink)->tree;
}
