/* SPDX-License-Identifier: MIT */
/* See record_remote.h. */
#include "cmds/record_remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/apart.h"
#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/format/uftrace/write.h"
#include "utils/remote/follow.h"
#include "utils/remote/tcp.h"

#define LOOK_MS 50

/* False: the recording has ended. */
static bool wait_more(int ended_fd)
{
	struct pollfd ended = { .fd = ended_fd, .events = POLLIN };

	return poll(&ended, 1, LOOK_MS) <= 0;
}

/* Keys at the terminal are for the program, and for the recorder, until it has ended. */
static void signals_ignore(void)
{
	for (size_t i = 0; i < FTR_ENDING_SIGNALS; i++)
		signal(ftr_ending_signals[i], SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static void signals_default(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < FTR_ENDING_SIGNALS; i++) {
		sigaddset(&set, ftr_ending_signals[i]);
		signal(ftr_ending_signals[i], SIG_DFL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int follow(const struct ftr_record_remote *remote, struct ftr_follow *data, int ended_fd)
{
	struct ftr_err err = { 0 };
	int ret = 0;

	while (ret == 0 && wait_more(ended_fd))
		ret = ftr_follow_more(data, &err);
	signals_default();
	if (ret == 0)
		ret = ftr_follow_end(data, &err);
	if (ret < 0)
		ftr_warn("record: sending to %s:%s failed: %s; the data stay in %s", remote->host,
			 remote->port, err.text, remote->dir);
	else
		ftr_verbose(0, "%llu bytes sent to %s:%s", (unsigned long long)data->bytes,
			    remote->host, remote->port);
	return ret < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK;
}

static pid_t sender_start(const struct ftr_record_remote *remote, struct ftr_follow *data,
			  const int ends[2])
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	close(ends[1]);
	signals_ignore();
	status = follow(remote, data, ends[0]);
	fflush(NULL);
	_exit(status);
}

int ftr_record_remote_start(struct ftr_record_remote *remote)
{
	struct ftr_follow data;
	struct ftr_err err = { 0 };
	int ends[2] = { -1, -1 };
	int fd = ftr_tcp_connect(remote->host, remote->port, &err);

	if (fd < 0) {
		ftr_error("record: cannot connect to %s; start \"ftr recv --bind 0.0.0.0\" "
			  "there, or name another --host or --port", err.text);
		return FTR_EXIT_FTR;
	}
	remote->pid = -1;
	ftr_follow_init(&data, fd, remote->dir);
	if (pipe2(ends, O_CLOEXEC) == 0)
		remote->pid = sender_start(remote, &data, ends);
	if (remote->pid < 0)
		ftr_error("record: --host: %s", strerror(errno));
	remote->ending_fd = ends[1];
	ftr_follow_fini(&data);
	if (ends[0] >= 0)
		close(ends[0]);
	close(fd);
	return remote->pid < 0 ? FTR_EXIT_FTR : FTR_EXIT_OK;
}

void ftr_record_remote_end(struct ftr_record_remote *remote, bool was_run)
{
	struct ftr_err err = { 0 };
	int status = 0;

	if (!was_run)
		kill(remote->pid, SIGKILL);
	close(remote->ending_fd);
	while (waitpid(remote->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!was_run)
		return;
	if (status == 0 && ftr_uftrace_dir_remove(remote->dir, &err) < 0)
		ftr_warn("record: %s", err.text);
	else if (WIFSIGNALED(status))
		ftr_warn("record: sending to %s:%s was interrupted; the data stay in %s",
			 remote->host, remote->port, remote->dir);
}
