/* SPDX-License-Identifier: MIT */
/* System calls of a recording: the observer's process. */
#include "utils/record/syscalls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/base/vec.h"
#include "utils/format/uftrace/stacks.h"
#include "utils/format/uftrace/write_syscall.h"
#include "utils/observe/observer.h"

struct output {
	struct ftr_uftrace_syscalls file;
	struct ftr_ostream stacks;	/* with has_stacks */
	struct ftr_strbuf line;		/* of it */
	const struct ftr_budget_shared *budget;
};

static bool is_spent(const struct output *output)
{
	return atomic_load_explicit(&output->budget->is_spent, memory_order_relaxed);
}

static void put_call(void *arg, const struct ftr_syscall *call)
{
	struct output *output = arg;

	if (!is_spent(output))
		ftr_uftrace_syscalls_write(&output->file, call);
}

static void put_line(struct output *output)
{
	if (!is_spent(output))
		ftr_ostream_write(&output->stacks, ftr_strbuf_str(&output->line),
				  output->line.len);
}

static void put_frame(void *arg, uint32_t number, const struct ftr_observer_frame *frame)
{
	struct output *output = arg;
	const struct ftr_uftrace_frame line = {
		.path = frame->path, .offset = frame->offset,
		.name = frame->name, .name_offset = frame->name_offset,
	};

	ftr_strbuf_clear(&output->line);
	ftr_uftrace_stacks_frame(&output->line, number, &line);
	put_line(output);
}

static void put_stack(void *arg, uint32_t number, const uint32_t *frames, size_t nr)
{
	struct output *output = arg;

	ftr_strbuf_clear(&output->line);
	ftr_uftrace_stacks_stack(&output->line, number, frames, nr);
	put_line(output);
}

/* The recorder's descriptors: a pipe whose end we kept would never end for it. */
static void close_others(int *kept, size_t nr)
{
	unsigned next = 3;

	ftr_vec_sort_int32(kept, nr);
	for (size_t i = 0; i < nr; i++) {
		if ((unsigned)kept[i] > next)
			close_range(next, (unsigned)kept[i] - 1, 0);
		next = (unsigned)kept[i] + 1;
	}
	close_range(next, UINT_MAX, 0);
}

static int output_open(struct output *output, const struct ftr_record_syscalls *self,
		       struct ftr_err *err)
{
	int ret = ftr_uftrace_syscalls_open(&output->file, self->dir, err);

	if (ret == 0 && self->has_stacks)
		ret = ftr_uftrace_stacks_open(&output->stacks, self->dir, err);
	ftr_strbuf_init(&output->line);
	output->budget = self->budget;
	return ret;
}

static void output_close(struct output *output, const struct ftr_record_syscalls *self)
{
	struct ftr_err err = { 0 };

	ftr_strbuf_fini(&output->line);
	if (self->has_stacks && ftr_ostream_close(&output->stacks, &err) < 0)
		ftr_diag_warn(self->diag, "%s", err.text);
	if (ftr_uftrace_syscalls_close(&output->file, &err) < 0)
		ftr_diag_warn(self->diag, "%s", err.text);
}

/* @result_fd gets why the program cannot be followed; closed empty when it is. */
static int follow(struct ftr_record_syscalls *self, pid_t program, int result_fd,
		  struct output *output)
{
	struct ftr_observer_sink sink = {
		.call = put_call, .arg = output, .has_details = true, .diag = self->diag,
		.frame = self->has_stacks ? put_frame : NULL,
		.stack = self->has_stacks ? put_stack : NULL,
	};
	int kept[] = { output->file.out.fd, result_fd, self->gate.fds[0], output->stacks.fd };
	struct ftr_observer *observer;
	struct ftr_err err = { 0 };
	int status;

	close_others(kept, self->has_stacks ? 4 : 3);
	observer = ftr_observer_new(&sink, program, &self->gate, &err);
	if (observer == NULL) {
		(void)!write(result_fd, err.text, strlen(err.text));
		return 1;
	}
	close(result_fd);
	ftr_observer_run(observer, NULL, &status);
	ftr_observer_free(observer);
	output_close(output, self);
	return 0;
}

static int observer_main(struct ftr_record_syscalls *self, pid_t program, int result_fd)
{
	struct output output = { .budget = NULL };
	struct ftr_err err = { 0 };

	if (output_open(&output, self, &err) < 0) {
		(void)!write(result_fd, err.text, strlen(err.text));
		return 1;
	}
	return follow(self, program, result_fd, &output);
}

int ftr_record_syscalls_open(struct ftr_record_syscalls *self, int dir,
			     const struct ftr_budget_shared *budget, struct ftr_diag *diag,
			     struct ftr_err *err)
{
	assert(budget != NULL);
	*self = (struct ftr_record_syscalls){ .dir = dir, .diag = diag, .budget = budget,
					      .has_stacks = self->has_stacks };
	return ftr_observer_gate_open(&self->gate, err);
}

int ftr_record_syscalls_in_child(struct ftr_record_syscalls *self)
{
	return -ftr_observer_gate_pass(&self->gate);
}

int ftr_record_syscalls_in_parent(struct ftr_record_syscalls *self, pid_t program,
				  struct ftr_err *err)
{
	char text[sizeof(err->text)];
	int fds[2];
	ssize_t len;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	self->pid = fork();
	if (self->pid == 0)
		_exit(observer_main(self, program, fds[1]));
	close(fds[1]);
	ftr_observer_gate_close(&self->gate);
	if (self->pid < 0) {
		self->pid = 0;
		close(fds[0]);
		return ftr_err_set(err, errno, "fork: %s", strerror(errno));
	}
	len = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
	return ftr_err_set(err, EPERM, "%s", text);
}

bool ftr_record_syscalls_have_ended(struct ftr_record_syscalls *self)
{
	if (self->pid != 0 && waitpid(self->pid, NULL, WNOHANG) == self->pid)
		self->pid = 0;
	return self->pid == 0;
}

void ftr_record_syscalls_close(struct ftr_record_syscalls *self)
{
	ftr_observer_gate_close(&self->gate);
}
