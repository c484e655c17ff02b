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
#include "utils/format/uftrace/write_syscall.h"
#include "utils/observe/observer.h"

struct output {
	struct ftr_uftrace_syscalls *file;
	const struct ftr_budget_shared *budget;
};

static void put_call(void *arg, const struct ftr_syscall *call)
{
	struct output *output = arg;

	if (!atomic_load_explicit(&output->budget->is_spent, memory_order_relaxed))
		ftr_uftrace_syscalls_write(output->file, call);
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

/* @result_fd gets why the program cannot be followed; closed empty when it is. */
static int follow(struct ftr_record_syscalls *self, pid_t program, int result_fd,
		  struct ftr_uftrace_syscalls *file)
{
	struct output output = { file, self->budget };
	struct ftr_observer_sink sink = {
		.call = put_call, .arg = &output, .has_details = true, .diag = self->diag,
	};
	struct ftr_observer *observer;
	struct ftr_err err = { 0 };
	int status;

	close_others((int[]){ file->out.fd, result_fd, self->gate.fds[0] }, 3);
	observer = ftr_observer_new(&sink, program, &self->gate, &err);
	if (observer == NULL) {
		(void)!write(result_fd, err.text, strlen(err.text));
		return 1;
	}
	close(result_fd);
	ftr_observer_run(observer, NULL, &status);
	ftr_observer_free(observer);
	if (ftr_uftrace_syscalls_close(file, &err) < 0)
		ftr_diag_warn(self->diag, "%s", err.text);
	return 0;
}

static int observer_main(struct ftr_record_syscalls *self, pid_t program, int result_fd)
{
	struct ftr_uftrace_syscalls file;
	struct ftr_err err = { 0 };

	if (ftr_uftrace_syscalls_open(&file, self->dir, &err) < 0) {
		(void)!write(result_fd, err.text, strlen(err.text));
		return 1;
	}
	return follow(self, program, result_fd, &file);
}

int ftr_record_syscalls_open(struct ftr_record_syscalls *self, int dir,
			     const struct ftr_budget_shared *budget, struct ftr_diag *diag,
			     struct ftr_err *err)
{
	assert(budget != NULL);
	*self = (struct ftr_record_syscalls){ .dir = dir, .diag = diag, .budget = budget };
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
