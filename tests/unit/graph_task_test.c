/* SPDX-License-Identifier: MIT */
/* Trees of tasks, and their text. */
#include "tests/unit/unit.h"

#include "utils/analysis/graph_task.h"
#include "utils/base/ostream.h"
#include "utils/trace/syscall.h"
#include "utils/trace/trace.h"
#include "utils/view/graph_task.h"

#include <errno.h>
#include <string.h>

#define S(text) { text, sizeof(text) - 1 }

static struct ftr_task *task_new(struct ftr_trace *trace, int pid, int tid, struct ftr_task *parent,
				 const char *name)
{
	struct ftr_task *task = ftr_trace_task_get(trace, pid, tid);

	task->parent = parent;
	task->is_forked = pid == tid && parent != NULL;
	task->name = name;
	return task;
}

/* The end of a system call. */
static void push(struct ftr_sink *sink, struct ftr_trace *trace, struct ftr_task *task,
		 const struct ftr_syscall *call)
{
	struct ftr_payload payload = { .syscall = call };
	struct ftr_event ev = { .type = FTR_EVENT_EXIT, .task = task, .time_ns = call->end_ns,
				.payload = &payload };

	ev.call.func = ftr_syscall_func(trace, NULL, ftr_syscall_id(call));
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
}

static void exec(struct ftr_sink *sink, struct ftr_trace *trace, struct ftr_task *task,
		 const struct ftr_slice *argv, size_t argc, int error)
{
	struct ftr_syscall call = { .kind = FTR_SYSCALL_EXEC, .end_ns = 100,
				    .is_failed = error != 0, .error = error,
				    .exec = { .program = S("/p"), .argv = argv, .argc = argc } };

	push(sink, trace, task, &call);
}

static void expect_text(struct ftr_sink *sink, const char *fields, const char *expected)
{
	struct ftr_graph_task_opts opts = { .fields = fields };
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(sink->ops->end(sink), 0);
	assert_int_equal(ftr_graph_task_print(ftr_task_tree_get(sink), &opts, &out, NULL), 0);
	ftr_ostream_putc(&out, '\0');
	assert_string_equal(out.buf, expected);
	ftr_ostream_close(&out, NULL);
}

static struct ftr_sink *sink_new(struct ftr_trace *trace)
{
	struct ftr_sink *sink = ftr_task_tree_new(NULL);

	sink->ops->begin(sink, trace);
	return sink;
}

#define HEAD "========== TASK GRAPH ==========\n"

static void threads_stand_closer_than_processes(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);
	struct ftr_task *top = task_new(trace, 1, 1, NULL, "top"), *child, *thread;

	thread = task_new(trace, 1, 2, top, "thread");
	child = task_new(trace, 3, 3, thread, "child");
	task_new(trace, 3, 4, child, "its");
	task_new(trace, 5, 5, child, "grandchild");
	task_new(trace, 1, 6, thread, "late");
	task_new(trace, 7, 7, top, "last");
	task_new(trace, 8, 8, NULL, "alone");
	expect_text(sink, "none", HEAD
		    "top\n"
		    " +-thread\n"
		    " |    \n"
		    " +----child\n"
		    " |     +-its\n"
		    " |     |    \n"
		    " |     +----grandchild\n"
		    " | \n"
		    " +-late\n"
		    " |    \n"
		    " +----last\n"
		    "alone\n\n");
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void rings_of_parents_are_cut(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);
	struct ftr_task *a = task_new(trace, 1, 1, NULL, "a"), *b = task_new(trace, 2, 2, a, "b");
	struct ftr_task *self = task_new(trace, 3, 3, NULL, "self");

	a->parent = b;
	self->parent = self;
	expect_text(sink, "none", HEAD "b\n |    \n +----a\nself\n\n");
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void commands_and_exits_are_shown(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);
	struct ftr_task *sh = task_new(trace, 1, 1, NULL, "sh"),
			*cc = task_new(trace, 2, 2, sh, "cc1");
	static const struct ftr_slice sh_argv[] = { S("sh"), S("-c"), S("cc a.c") };
	static const struct ftr_slice cc_argv[] = { S("cc") }, cc1_argv[] = { S("cc1") };
	static const struct ftr_syscall end = { .kind = FTR_SYSCALL_EXIT, .end_ns = 1100,
						.exit.status = 3 };

	exec(sink, trace, sh, sh_argv, 3, 0);
	exec(sink, trace, cc, cc_argv, 1, ENOENT);
	exec(sink, trace, cc, cc_argv, 1, 0);
	exec(sink, trace, cc, cc1_argv, 1, EACCES);
	push(sink, trace, cc, &end);
	expect_text(
		sink, NULL,
		HEAD
		"# TOTAL TIME   SELF TIME     TID          EXIT   TASK NAME\n"
		"                          [      1]            : sh: sh -c \"cc a.c\"\n"
		"                                               :  |    \n"
		"    1.000 us    1.000 us  [      2]          3 :  +----cc1: cc -> cc1 (EACCES)\n\n");
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

/* A program may have functions that are called like system calls. */
static void functions_of_that_name_are_not_calls(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);
	struct ftr_task *task = task_new(trace, 1, 1, NULL, "p");
	struct ftr_payload payload = { .len = 0 };
	struct ftr_event ev = { .type = FTR_EVENT_EXIT, .task = task, .time_ns = 5,
				.payload = &payload };

	ev.call.func = ftr_trace_func_by_name(trace, NULL, "sys_exit", 8);
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
	ev.call.func = ftr_trace_func_by_name(trace, NULL, "sys_execve", 10);
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
	expect_text(sink, "exit,command", HEAD "#      EXIT   TASK NAME\n            : p\n\n");
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void expect_command(const struct ftr_slice *argv, size_t argc, const char *expected)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);

	exec(sink, trace, task_new(trace, 1, 1, NULL, "p"), argv, argc, 0);
	assert_int_equal(sink->ops->end(sink), 0);
	assert_string_equal(ftr_task_tree_get(sink)->nodes.v[0].images.v[0].command, expected);
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void commands_are_words(void **state)
{
	static char long_word[3000];
	const struct ftr_slice words[] = { S("gcc"), S("-DX=\"1\""), S("a b.c"), S("") };
	const struct ftr_slice cut[] = { S("gcc"), S("-c"), { long_word, sizeof(long_word) } };

	memset(long_word, 'a', sizeof(long_word));
	expect_command(words, 4, "gcc \"-DX=\\\"1\\\"\" \"a b.c\" \"\"");
	expect_command(cut, 3, "gcc -c ...");
	expect_command(cut + 2, 1, "...");
	expect_command(NULL, 0, "/p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_stand_closer_than_processes),
		cmocka_unit_test(rings_of_parents_are_cut),
		cmocka_unit_test(commands_and_exits_are_shown),
		cmocka_unit_test(functions_of_that_name_are_not_calls),
		cmocka_unit_test(commands_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
