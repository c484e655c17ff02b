/* SPDX-License-Identifier: MIT */
/* The observer's process. */
#include "utils/observe/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utils/format/etrace/etrace.h"

static void job_record(void *arg, const struct ftr_etrace_record *rec)
{
	ftr_etrace_write(arg, rec);
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What the recorder has open is not ours: a pipe whose end we keep never ends for it. */
static void close_others(int *kept, size_t nr)
{
	unsigned next = 3;

	qsort(kept, nr, sizeof(*kept), compare_ints);
	for (size_t i = 0; i < nr; i++) {
		if ((unsigned)kept[i] > next)
			close_range(next, (unsigned)kept[i] - 1, 0);
		next = (unsigned)kept[i] + 1;
	}
	close_range(next, UINT_MAX, 0);
}

/* In the observer's process: attach, tell the recorder, follow to the end. */
static int job_run(struct ftr_syscall_job *job, pid_t program, int result_fd)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	struct ftr_observer *observer;
	struct ftr_etrace_writer writer;
	struct ftr_ostream out;
	struct ftr_err err = { 0 };
	char path[PATH_MAX];
	int status, ret;

	snprintf(path, sizeof(path), "%s/" FTR_SYSCALL_FILE, job->dir);
	ret = ftr_ostream_open(&out, path, &err);
	if (ret == 0) {
		struct ftr_observer_sink sink = {
			.record = job_record, .arg = &writer, .has_details = true, .diag = job->diag
		};

		ftr_etrace_writer_init(&writer, &out, &options);
		close_others((int[]){ out.fd, result_fd, job->gate.fds[0] }, 3);
		observer = ftr_observer_new(&sink, program, &job->gate, &err);
	} else {
		observer = NULL;
	}
	if (observer == NULL) {
		(void)!write(result_fd, err.text, strlen(err.text));
		return 1;
	}
	close(result_fd);
	ftr_observer_run(observer, &status);
	ftr_observer_free(observer);
	ftr_etrace_writer_fini(&writer);
	if (ftr_ostream_close(&out, &err) < 0)
		ftr_diag_warn(job->diag, "%s", err.text);
	return 0;
}

int ftr_syscall_job_open(struct ftr_syscall_job *job, const char *dir, struct ftr_diag *diag,
			 struct ftr_err *err)
{
	*job = (struct ftr_syscall_job){ .dir = dir, .diag = diag };
	return ftr_observer_gate_open(&job->gate, err);
}

int ftr_syscall_job_in_child(void *arg)
{
	struct ftr_syscall_job *job = arg;

	return -ftr_observer_gate_pass(&job->gate);
}

int ftr_syscall_job_in_parent(void *arg, pid_t program, struct ftr_err *err)
{
	struct ftr_syscall_job *job = arg;
	char text[sizeof(err->text)];
	int fds[2];
	ssize_t len;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	job->pid = fork();
	if (job->pid == 0)
		_exit(job_run(job, program, fds[1]));
	close(fds[1]);
	ftr_observer_gate_close(&job->gate);
	if (job->pid < 0) {
		job->pid = 0;
		close(fds[0]);
		return ftr_err_set(err, errno, "fork: %s", strerror(errno));
	}
	len = read(fds[0], text, sizeof(text) - 1);
	close(fds[0]);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	waitpid(job->pid, NULL, 0);
	job->pid = 0;
	return ftr_err_set(err, EPERM, "%s", text);
}

bool ftr_syscall_job_has_ended(struct ftr_syscall_job *job)
{
	if (job->pid != 0 && waitpid(job->pid, NULL, WNOHANG) == job->pid)
		job->pid = 0;
	return job->pid == 0;
}

void ftr_syscall_job_close(struct ftr_syscall_job *job)
{
	ftr_observer_gate_close(&job->gate);
}
