/* SPDX-License-Identifier: MIT */
/* Trees of tasks, and their text. */
#include "tests/unit/unit.h"

#include "utils/analysis/graph_command.h"
#include "utils/analysis/graph_task.h"
#include "utils/base/ostream.h"
#include "utils/trace/args.h"
#include "utils/trace/trace.h"
#include "utils/view/graph_task.h"

#include <string.h>

static const struct ftr_argspec exec_spec = { 2,
					      { { .format = FTR_ARG_STRING, .name = "path" },
						{ .format = FTR_ARG_WORD, .name = "argv" } } };
static const struct ftr_argspec status_spec = { 1,
						{ { .format = FTR_ARG_WORD, .name = "status" } } };
static const struct ftr_argspec result_spec = { 1, { { .format = FTR_ARG_WORD } } };

static struct ftr_task *task_new(struct ftr_trace *trace, int pid, int tid, struct ftr_task *parent,
				 const char *name)
{
	struct ftr_task *task = ftr_trace_task_get(trace, pid, tid);

	task->parent = parent;
	task->is_forked = pid == tid && parent != NULL;
	task->name = name;
	return task;
}

static void put_text(struct ftr_strbuf *bytes, const char *text)
{
	uint16_t len = (uint16_t)strlen(text);

	ftr_strbuf_put(bytes, &len, sizeof(len));
	ftr_strbuf_put(bytes, text, len);
	while (bytes->len % 4 != 0)
		ftr_strbuf_putc(bytes, '\0');
}

/* An event of a system call with one or two texts. */
static void push(struct ftr_sink *sink, struct ftr_trace *trace, struct ftr_event ev,
		 const char *call, const struct ftr_argspec *spec, const char *first,
		 const char *second)
{
	struct ftr_strbuf bytes;
	struct ftr_payload payload = { .spec = spec };

	ftr_strbuf_init(&bytes);
	put_text(&bytes, first);
	if (second != NULL)
		put_text(&bytes, second);
	payload.data = (const uint8_t *)ftr_strbuf_str(&bytes);
	payload.len = (uint16_t)bytes.len;
	ev.payload = &payload;
	ev.call.func = ftr_trace_func_by_name(trace, NULL, call, strlen(call));
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
	ftr_strbuf_fini(&bytes);
}

static void exec(struct ftr_sink *sink, struct ftr_trace *trace, struct ftr_task *task,
		 const char *path, const char *argv, const char *result)
{
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .task = task, .time_ns = 100 };

	push(sink, trace, ev, "sys_execve", &exec_spec, path, argv);
	ev.type = FTR_EVENT_EXIT;
	push(sink, trace, ev, "sys_execve", &result_spec, result, NULL);
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
	struct ftr_event end = { .type = FTR_EVENT_ENTRY, .task = cc, .time_ns = 1100 };

	exec(sink, trace, sh, "/bin/sh", "[\"sh\", \"-c\", \"cc a.c\"]", "0");
	exec(sink, trace, cc, "/sbin/cc", "[\"cc\"]", "ENOENT");
	exec(sink, trace, cc, "/bin/cc", "[\"cc\"]", "0");
	exec(sink, trace, cc, "/bin/cc1", "[\"cc1\"]", "EACCES");
	push(sink, trace, end, "sys_exit", &status_spec, "3", NULL);
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

/* The program may have a function of that name. */
static void calls_without_arguments_say_nothing(void **state)
{
	struct ftr_trace *trace = ftr_trace_new("t", NULL);
	struct ftr_sink *sink = sink_new(trace);
	struct ftr_task *task = task_new(trace, 1, 1, NULL, "p");
	struct ftr_event ev = { .type = FTR_EVENT_ENTRY, .task = task, .time_ns = 5 };

	ev.call.func = ftr_trace_func_by_name(trace, NULL, "sys_exit", 8);
	assert_int_equal(sink->ops->batch(sink, &ev, 1), 0);
	push(sink, trace, ev, "sys_execve", &status_spec, "1", NULL);
	ev.type = FTR_EVENT_EXIT;
	push(sink, trace, ev, "sys_execve", &result_spec, "0", NULL);
	expect_text(sink, "exit,command", HEAD "#      EXIT   TASK NAME\n            : p\n\n");
	ftr_sink_free(sink);
	ftr_trace_free(trace);
}

static void expect_command(const char *argv, const char *expected)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_graph_put_command(&text, ftr_slice_make("/p", 2), ftr_slice_make(argv, strlen(argv)));
	assert_string_equal(ftr_strbuf_str(&text), expected);
	ftr_strbuf_fini(&text);
}

static void commands_are_words(void **state)
{
	expect_command("[\"gcc\", \"-DX=\\\"1\\\"\", \"a b.c\", \"\"]",
		       "gcc \"-DX=\\\"1\\\"\" \"a b.c\" \"\"");
	expect_command("[\"gcc\", \"-c\", \"a...]", "gcc -c ...");
	expect_command("[]", "/p");
	expect_command("", "/p");
	expect_command("[\"\\", "/p");
	expect_command("no list", "/p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_stand_closer_than_processes),
		cmocka_unit_test(rings_of_parents_are_cut),
		cmocka_unit_test(commands_and_exits_are_shown),
		cmocka_unit_test(calls_without_arguments_say_nothing),
		cmocka_unit_test(commands_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
