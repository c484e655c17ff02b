/* SPDX-License-Identifier: MIT */
/*
 * Scripts in any other language: a program that reads a JSON object a line from its standard input
 * (doc/scripts.md).  It is over when the program ends, whoever ends first.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/script/script.h"

#define LINES_VERSION "1"
#define FUNCS_KEY "uftrace-funcs"

extern char **environ;

struct process_script {
	struct ftr_script base;		/* first: the engine's functions receive a pointer to it */
	struct ftr_ostream to;		/* its standard input */
	bool has_pipe;
	pid_t pid;			/* 0 = not running */
};

static int funcs_read(struct ftr_script *script, struct ftr_err *err)
{
	struct ftr_slice rest, word;
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	ret = ftr_script_comments(script->path, FUNCS_KEY, &text, err);
	rest = ftr_slice_make(ftr_strbuf_str(&text), text.len);
	while (ret == 0 && ftr_slice_split(&rest, ' ', &word)) {
		if (word.len > 0)
			ret = ftr_script_add_func(script, word.s, word.len);
	}
	ftr_strbuf_fini(&text);
	return ret;
}

/* "prog" is looked for where "./prog" is. */
static char *path_with_slash(const char *path)
{
	struct ftr_strbuf sb;

	ftr_strbuf_init(&sb);
	if (strchr(path, '/') == NULL)
		ftr_strbuf_puts(&sb, "./");
	ftr_strbuf_puts(&sb, path);
	return ftr_strbuf_take(&sb);
}

static int spawn(struct process_script *self, char **argv, int input)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigaddset(&signals, SIGPIPE);	/* ignored here */
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawn(&self->pid, argv[0], &actions, &attributes, argv, environ);
	if (ret != 0)
		self->pid = 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int start(struct process_script *self, struct ftr_err *err)
{
	struct ftr_script *script = &self->base;
	char **argv = calloc((size_t)script->arg_nr + 2, sizeof(*argv));
	char *path = path_with_slash(script->path);
	int pipes[2] = { -1, -1 }, ret = 0;

	if (argv == NULL || path == NULL) {
		ret = ftr_err_set(err, ENOMEM, "%s: out of memory", script->path);
		goto out;
	}
	argv[0] = path;
	if (script->arg_nr > 0)
		memcpy(&argv[1], script->args, (size_t)script->arg_nr * sizeof(*argv));
	if (pipe2(pipes, O_CLOEXEC) < 0)
		ret = errno;
	if (ret == 0)
		ret = spawn(self, argv, pipes[0]);
	if (ret == 0 && ftr_ostream_from_fd(&self->to, pipes[1], script->path) < 0)
		ret = ENOMEM;
	if (ret == 0) {
		self->has_pipe = true;
		self->to.owns_fd = true;
		pipes[1] = -1;
	} else {
		ret = ftr_err_set(err, ret, "%s: %s", script->path, ret != ENOENT ? strerror(ret) :
				  "the interpreter that its first line names is missing");
	}
out:
	if (pipes[0] >= 0)
		close(pipes[0]);
	if (pipes[1] >= 0)
		close(pipes[1]);
	free(path);
	free(argv);
	return ret;
}

static int process_open(struct ftr_script *script, struct ftr_err *err)
{
	struct process_script *self = (struct process_script *)script;
	int ret = funcs_read(script, err);

	script->callbacks = FTR_BIT(FTR_SCRIPT_CALLBACKS) - 1;
	return ret < 0 ? ret : start(self, err);
}

static int status_judge(const struct process_script *self, int status, struct ftr_err *err)
{
	if (WIFSIGNALED(status))
		return ftr_err_set(err, EIO, "%s: killed by signal %d (%s)", self->base.path,
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != 0)
		return ftr_err_set(err, EIO, "%s: ended with exit status %d", self->base.path,
				   WEXITSTATUS(status));
	return 0;
}

/* Close the pipe and see how it ends. */
static int finish(struct process_script *self, struct ftr_err *err)
{
	int status = 0;

	if (self->has_pipe)
		ftr_ostream_close(&self->to, NULL);
	self->has_pipe = false;
	if (self->pid == 0)
		return 0;
	while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
		;
	self->pid = 0;
	return status_judge(self, status, err);
}

/* After a line: does it still read? */
static int check(struct process_script *self, struct ftr_err *err)
{
	int ret;

	if (self->to.code == 0)
		return 0;
	ret = finish(self, err);
	return ret < 0 ? ret : -ECANCELED;
}

static void put_number(struct ftr_ostream *out, const char *key, uint64_t value)
{
	ftr_ostream_puts(out, key);
	ftr_ostream_u64(out, value);
}

static void put_float(struct ftr_ostream *out, double value)
{
	if (isfinite(value))
		ftr_ostream_printf(out, "%.17g", value);
	else
		ftr_ostream_puts(out, "null");
}

static void put_value(struct ftr_ostream *out, const struct ftr_script_value *value)
{
	switch (value->kind) {
	case FTR_SCRIPT_SIGNED:
		ftr_ostream_printf(out, "%lld", (long long)value->i);
		break;
	case FTR_SCRIPT_UNSIGNED:
		ftr_ostream_u64(out, value->u);
		break;
	case FTR_SCRIPT_FLOAT:
		put_float(out, value->f);
		break;
	case FTR_SCRIPT_TEXT:
		ftr_ostream_json_string(out, value->text.s, value->text.len);
		break;
	case FTR_SCRIPT_NOTHING:
		ftr_ostream_puts(out, "null");
		break;
	}
}

static void put_values(struct ftr_ostream *out, enum ftr_script_callback callback,
		       const struct ftr_script_context *context)
{
	bool is_list = callback == FTR_SCRIPT_ENTRY;

	if (context->value_nr == 0)
		return;
	ftr_ostream_puts(out, callback == FTR_SCRIPT_EXIT ? ",\"retval\":" :
			      is_list ? ",\"args\":[" : ",\"args\":");
	for (size_t i = 0; i < context->value_nr; i++) {
		if (i > 0)
			ftr_ostream_putc(out, ',');
		put_value(out, &context->values[i]);
	}
	if (is_list)
		ftr_ostream_putc(out, ']');
}

static int process_call(struct ftr_script *script, enum ftr_script_callback callback,
			const struct ftr_script_context *context, struct ftr_err *err)
{
	static const char *const types[FTR_SCRIPT_CALLBACKS] = {
		[FTR_SCRIPT_ENTRY] = "entry", [FTR_SCRIPT_EXIT] = "exit",
		[FTR_SCRIPT_EVENT] = "event",
	};
	struct process_script *self = (struct process_script *)script;
	struct ftr_ostream *out = &self->to;

	ftr_ostream_puts(out, "{\"v\":" LINES_VERSION ",\"type\":\"");
	ftr_ostream_puts(out, types[callback]);
	put_number(out, "\",\"tid\":", (uint32_t)context->tid);
	put_number(out, ",\"depth\":", context->depth);
	put_number(out, ",\"timestamp\":", context->time_ns);
	if (callback == FTR_SCRIPT_EXIT)
		put_number(out, ",\"duration\":", context->duration_ns);
	put_number(out, ",\"address\":", context->addr);
	ftr_ostream_puts(out, ",\"name\":");
	ftr_ostream_json_string(out, context->name, context->name_len);
	put_values(out, callback, context);
	ftr_ostream_puts(out, "}\n");
	return check(self, err);
}

static int process_begin(struct ftr_script *script, const struct ftr_script_start *start,
			 struct ftr_err *err)
{
	struct process_script *self = (struct process_script *)script;
	struct ftr_ostream *out = &self->to;

	ftr_ostream_puts(out, "{\"v\":" LINES_VERSION ",\"type\":\"begin\",\"record\":");
	ftr_ostream_puts(out, start->is_record ? "true" : "false");
	ftr_ostream_puts(out, ",\"version\":");
	ftr_ostream_json_string(out, start->version, strlen(start->version));
	ftr_ostream_puts(out, ",\"cmds\":[");
	for (int i = 0; i < start->arg_nr; i++) {
		if (i > 0)
			ftr_ostream_putc(out, ',');
		ftr_ostream_json_string(out, start->args[i], strlen(start->args[i]));
	}
	ftr_ostream_puts(out, "]}\n");
	return check(self, err);
}

static int process_end(struct ftr_script *script, struct ftr_err *err)
{
	struct process_script *self = (struct process_script *)script;

	if (self->has_pipe)
		ftr_ostream_puts(&self->to, "{\"v\":" LINES_VERSION ",\"type\":\"end\"}\n");
	return finish(self, err);
}

/* After a failure, without a last line: it knows from it that not all was there. */
static void process_close(struct ftr_script *script)
{
	finish((struct process_script *)script, NULL);
}

const struct ftr_script_engine ftr_script_engine_process = {
	.name  = "process",
	.size  = sizeof(struct process_script),
	.open  = process_open,
	.begin = process_begin,
	.call  = process_call,
	.end   = process_end,
	.close = process_close,
};
