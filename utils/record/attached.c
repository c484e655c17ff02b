/* SPDX-License-Identifier: MIT */
/* See attached.h. */
#include "utils/record/attached.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>


static const char *const doings[] = {
	[FTR_ATTACHED_BEGIN] = "attaches to it",
	[FTR_ATTACHED_CODE] = "changes what is patched in it",
	[FTR_ATTACHED_LEAVE] = "leaves it",
};

/* What comes through the pipe, in one piece. */
struct answer {
	int32_t code;		/* 0 or -errno */
	struct ftr_attach_report report;
	struct ftr_err err;
};
static_assert(sizeof(struct answer) <= PIPE_BUF, "written at once");

static int work_do(const struct ftr_record_attached_job *job, struct answer *answer)
{
	const struct ftr_attach_codes codes = {
		.runtime = job->runtime, .addr = job->codes, .nr = job->code_nr,
		.chosen = job->chosen, .chosen_nr = job->chosen_nr,
	};

	switch (job->work) {
	case FTR_ATTACHED_BEGIN:
		return ftr_attach(job->pid, job->runtime, job->address, &answer->report,
				  &answer->err);
	case FTR_ATTACHED_CODE:
		return ftr_attach_code(job->pid, &codes, &answer->report, &answer->err);
	default:
		return ftr_attach_leave(job->pid, job->runtime, &answer->report, &answer->err);
	}
}

/* Without the recorder's descriptors: who waits for their end must not wait for ours. */
static void helper_main(const struct ftr_record_attached_job *job, int fd, pid_t recorder)
{
	struct answer answer = { .code = 0 };

	if (job->work != FTR_ATTACHED_LEAVE) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != recorder)
			_exit(1);
	}
	if (fd > 3)
		close_range(3, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, UINT_MAX, 0);
	answer.code = work_do(job, &answer);
	(void)!write(fd, &answer, sizeof(answer));
	_exit(0);
}

int ftr_record_attached_start(struct ftr_record_attached *self,
			      const struct ftr_record_attached_job *job, struct ftr_err *err)
{
	pid_t recorder = getpid();
	int fds[2];

	self->work = job->work;
	self->pid = job->pid;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return ftr_err_set(err, errno, "pipe: %s", strerror(errno));
	self->helper = fork();
	if (self->helper == 0)
		helper_main(job, fds[1], recorder);
	close(fds[1]);
	self->fd = fds[0];
	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	if (self->helper > 0)
		return 0;
	self->helper = 0;
	close(fds[0]);
	return ftr_err_set(err, errno, "fork: %s", strerror(errno));
}

int ftr_record_attached_poll(struct ftr_record_attached *self, struct ftr_attach_report *report,
			     struct ftr_err *err)
{
	struct answer answer;
	ssize_t len = read(self->fd, &answer, sizeof(answer));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	close(self->fd);
	waitpid(self->helper, NULL, 0);
	self->helper = 0;
	if (len != sizeof(answer))
		return ftr_err_set(err, ECHILD, "the process that %s was killed",
				   doings[self->work]);
	*report = answer.report;
	*err = answer.err;
	return answer.code < 0 ? answer.code : 1;
}
