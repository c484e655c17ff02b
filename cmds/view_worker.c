/* SPDX-License-Identifier: MIT */
/* Processes that answer what a page asks for. */
#include "cmds/view_worker.h"

#include "cmds/message.h"
#include "cmds/progress.h"
#include "utils/base/ostream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 60u
#define ANSWER_MAX  ((size_t)64 * 1024 * 1024)
#define READ_BYTES  ((size_t)256 * 1024)

static void failure_put(struct ftr_ostream *out, const char *text)
{
	ftr_ostream_puts(out, "{\"error\":");
	ftr_ostream_json_string(out, text, strlen(text));
	ftr_ostream_puts(out, "}");
}

/* Signals are as before the server; it lives no longer than that. */
static void child_begin(pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	alarm(SECONDS_MAX);
	ftr_progress_hide();
}

/* Nothing is sent before all is known: a failure replaces what was made. */
static _Noreturn void child_answer(const struct ftr_view_site *site,
				   const struct ftr_view_request *request, int fd)
{
	struct ftr_err said = { 0 };
	struct ftr_ostream answer, out;
	int ret;

	if (ftr_ostream_from_fd(&out, fd, "answer") < 0 || ftr_ostream_to_memory(&answer) < 0)
		_exit(1);
	ftr_message_capture(&said);
	ret = site->answer(site->arg, request, &answer, &said);
	if (ret == 0 && answer.code != 0)
		ret = ftr_err_set(&said, ENOMEM, "out of memory");
	if (ret == 0)
		ftr_ostream_write(&out, answer.buf, answer.len);
	else
		failure_put(&out, said.text);
	if (ftr_ostream_flush(&out, NULL) < 0)
		ret = -EPIPE;
	_exit(ret != 0);
}

int ftr_view_worker_start(struct ftr_view_worker *worker, const struct ftr_view_site *site,
			  const struct ftr_view_request *request)
{
	pid_t parent = getpid();
	int fds[2];

	*worker = (struct ftr_view_worker){ .fd = -1 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	worker->pid = fork();
	if (worker->pid == 0) {
		close(fds[0]);
		child_begin(parent);
		child_answer(site, request, fds[1]);
	}
	close(fds[1]);
	if (worker->pid < 0) {
		int code = errno;

		close(fds[0]);
		return -code;
	}
	worker->fd = fds[0];
	fcntl(worker->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

/* In place of what it wrote. */
static void worker_fail(struct ftr_view_worker *worker, const char *text)
{
	char line[128];

	snprintf(line, sizeof(line), "{\"error\":\"%s\"}", text);
	worker->text.nr = 0;
	worker->has_failed = true;
	for (const char *p = line; *p != '\0'; p++)
		if (ftr_vec_push(&worker->text, *p) < 0)
			break;
}

static int worker_wait(struct ftr_view_worker *worker)
{
	int status = 0;

	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	close(worker->fd);
	worker->fd = -1;
	worker->is_done = true;
	return status;
}

static void worker_end(struct ftr_view_worker *worker)
{
	int status = worker_wait(worker);

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		worker_fail(worker, "reading took longer than a minute");
	else if (WIFSIGNALED(status))
		worker_fail(worker, "reading ended by a signal; is the trace damaged?");
	else
		worker->has_failed = status != 0;
}

void ftr_view_worker_read(struct ftr_view_worker *worker)
{
	ssize_t got;

	if (ftr_vec_reserve(&worker->text, worker->text.nr + READ_BYTES) == 0) {
		got = read(worker->fd, worker->text.v + worker->text.nr, READ_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	} else {
		got = -1;
	}
	if (got > 0)
		worker->text.nr += (size_t)got;
	if (got > 0 && worker->text.nr <= ANSWER_MAX)
		return;
	if (got == 0) {
		worker_end(worker);
		return;
	}
	kill(worker->pid, SIGKILL);
	worker_wait(worker);
	worker_fail(worker, "the answer is too large; look at a shorter time");
}

void ftr_view_worker_fini(struct ftr_view_worker *worker)
{
	if (worker->pid > 0) {
		kill(worker->pid, SIGKILL);
		worker_wait(worker);
	}
	ftr_vec_fini(&worker->text);
}
