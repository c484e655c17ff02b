/* SPDX-License-Identifier: MIT */
/*
 * ftr serve: run a program, and give what it does to clients, as a SWAP stream over TCP.  The
 * program is recorded as ever; beside the recorder one process follows the data and writes the
 * stream (doc/adr/0086), and another hands it to the clients.  Neither can hold the program up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/apart.h"
#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/record.h"
#include "cmds/serve_clients.h"
#include "cmds/temporary.h"
#include "utils/format/format.h"
#include "utils/record/collector.h"
#include "utils/remote/fanout.h"
#include "utils/remote/tcp.h"

#define LOOPBACK "127.0.0.1"
#define PORT_FIRST 8001		/* as the protocol's own programs have it */
#define PORT_LAST  8099
#define LOOK_MS	   10
#define STREAM	   "swap"

struct serve_values {
	struct ftr_common common;
	struct ftr_record_opts record;
	const char *bind, *port, *token;
	bool waits, has_control;
};

static const struct serve_values serve_defaults = {
	.record = FTR_RECORD_OPTS_DEFAULTS, .bind = LOOPBACK,
};

static const struct ftr_option serve_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct serve_values, common),
	FTR_OPTION("bind", 0, "ADDR",
		   "Listen at ADDR (default: " LOOPBACK "; 0.0.0.0 is any of this machine's)",
		   ftr_opt_string, struct serve_values, bind),
	FTR_OPTION("port", 0, "PORT",
		   "Listen at PORT (default: the first free one from 8001 to 8099; 0: any)",
		   ftr_opt_string, struct serve_values, port),
	FTR_OPTION("token", 0, "TEXT", "Serve only clients that say TEXT and a newline first",
		   ftr_opt_string, struct serve_values, token),
	FTR_OPTION("wait", 0, NULL, "Start the program when the first client is there",
		   ftr_opt_flag, struct serve_values, waits),
	FTR_OPTION("control", 0, NULL,
		   "The first connection is a control channel, which starts the program; others "
		   "get the stream", ftr_opt_flag, struct serve_values, has_control),
	FTR_OPTION_GROUP(ftr_record_opts_options, struct serve_values, record),
	FTR_OPTION("no-event", 0, NULL,
		   "Record no events of tasks: scheduling, start, exit, name", ftr_opt_flag,
		   struct serve_values, record.no_event),
	FTR_OPTION("no-sched", 0, NULL, "Do not record scheduling", ftr_opt_flag,
		   struct serve_values, record.no_sched),
	FTR_OPTION("depth", 'D', "DEPTH", "Record at most DEPTH levels of calls", ftr_opt_u64,
		   struct serve_values, record.depth, .min = 1, .max = 65536),
	FTR_OPTION("time-filter", 't', "TIME", "Leave out calls that take less than TIME",
		   ftr_opt_time, struct serve_values, record.time_ns),
	FTR_OPTION_GROUP(ftr_filter_options, struct serve_values, record.filter),
	{ 0 }
};

struct serving {
	const struct serve_values *values;
	const char *dir;		/* that is recorded into */
	int listen_fd;
	int ended[2];			/* a pipe: closed when the recording has ended */
	int ready[2];			/* a pipe: a byte when a client is there */
	pid_t pid;			/* of who serves the clients */
	sigset_t awake;			/* the signals that come while nothing is waited for */
};

/* ---- the stream: a process that follows the data ---- */

/* Keys at the terminal are for the program and its recorder; we end when that has. */
static bool has_ended(const struct serving *self, int wait_ms)
{
	struct pollfd ended = { .fd = self->ended[0], .events = POLLIN };

	return poll(&ended, 1, wait_ms) > 0;
}

/*
 * Not data of an earlier recording, which nobody holds a lock on.  The first session comes when all
 * that a reader begins with is written.
 */
static bool is_being_recorded(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool is_held = fd >= 0 && fstatat(fd, "task.txt", &st, 0) == 0 && st.st_size > 0 &&
		       flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return is_held;
}

/* The data have a file or two for each task. */
static void raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* False: there was no recording. */
static bool data_await(const struct serving *self)
{
	while (!is_being_recorded(self->dir)) {
		if (has_ended(self, LOOK_MS))
			return ftr_trace_is_at(self->dir);
	}
	return true;
}

static int stream_write(const struct serving *self)
{
	bool is_kept = self->values->common.data != NULL;
	struct ftr_common common = self->values->common;
	struct ftr_selection selection = {
		.event_full = true, .filter = self->values->record.filter,
	};
	struct ftr_export to = {
		.common = &common, .format = ftr_format_find(STREAM), .path = "-",
	};
	struct ftr_opened opened;
	int status;

	common.data = self->dir;
	selection.filter.are_recorders = true;
	status = ftr_opened_open(&opened, &common, &selection,
				 is_kept ? FTR_ORDER_FOLLOW : FTR_ORDER_CONSUME);
	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_export(&opened, &to);
	ftr_opened_close(&opened);
	return status;
}

/* The read end of a pipe with the stream, or -1. */
static int stream_start(const struct serving *self)
{
	int fds[2], status = FTR_EXIT_OK;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid != 0) {
		close(fds[1]);
		if (pid < 0)
			close(fds[0]);
		return pid < 0 ? -1 : fds[0];
	}
	close(fds[0]);
	close(self->listen_fd);
	close(self->ready[1]);
	if (dup2(fds[1], STDOUT_FILENO) < 0)
		_exit(FTR_EXIT_FAILED);
	close(fds[1]);
	raise_nofile();
	if (data_await(self))
		status = stream_write(self);
	fflush(NULL);
	_exit(status);
}

/* ---- the clients: a process that the stream goes through ---- */

static void serve(const struct serving *self)
{
	struct ftr_serve_clients clients = {
		.listen_fd = self->listen_fd,
		.ready_fd = self->ready[1],
		.token = self->values->token,
		.has_control = self->values->has_control,
	};

	close(self->ended[1]);
	close(self->ready[0]);
	ftr_ending_signals_ignore();
	clients.stream_fd = stream_start(self);
	if (clients.stream_fd < 0)
		ftr_error("serve: %s", strerror(errno));
	else
		ftr_serve_clients(&clients);
	fflush(NULL);
	_exit(clients.stream_fd < 0 ? FTR_EXIT_FAILED : FTR_EXIT_OK);
}

static int serve_start(struct serving *self)
{
	if (pipe2(self->ended, O_CLOEXEC) < 0 || pipe2(self->ready, O_CLOEXEC) < 0) {
		ftr_error("serve: %s", strerror(errno));
		return FTR_EXIT_FTR;
	}
	fflush(NULL);
	self->pid = fork();
	if (self->pid == 0)
		serve(self);
	if (self->pid < 0)
		ftr_error("serve: %s", strerror(errno));
	close(self->listen_fd);
	close(self->ended[0]);
	close(self->ready[1]);
	return self->pid < 0 ? FTR_EXIT_FTR : FTR_EXIT_OK;
}

/* The clients get the rest. */
static void serve_end(struct serving *self)
{
	int status;

	close(self->ended[1]);
	while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(self->ready[0]);
}

/* ---- the command ---- */

/* What is recorded into other files than those that are followed, or at other times. */
static const char *refused_of(const struct serve_values *values)
{
	const struct ftr_record_opts *record = &values->record;

	if (record->has_syscalls)
		return "--syscalls is not known while the program runs; record it (ftr record)";
	if (record->attach_pid != 0)
		return "--pid: what runs already is not served; record it (ftr record -p PID)";
	if (record->flight.bytes != 0)
		return "--overwrite keeps what clients are to get";
	if (record->script != NULL)
		return "--script runs over data that are gone by then; use it with ftr record";
	if (record->keep_pid || record->detach)
		return "--keep-pid and --detach leave nobody who ends the serving";
	if (ftr_option_values_given(&record->of_collectors, ftr_collector_options, "kernel"))
		return "events of the kernel are not followed; record them (ftr record)";
	if (values->token != NULL && (values->token[0] == '\0' ||
				      strlen(values->token) > FTR_FANOUT_TOKEN_MAX ||
				      strchr(values->token, '\n') != NULL))
		return "--token is a line of 1 to 128 bytes";
	return NULL;
}

static int listen_somewhere(const struct serve_values *values, struct ftr_err *err)
{
	char port[8];
	int fd = -1;

	if (values->port != NULL)
		return ftr_tcp_listen(values->bind, values->port, err);
	for (int nr = PORT_FIRST; fd < 0 && nr <= PORT_LAST; nr++) {
		snprintf(port, sizeof(port), "%d", nr);
		fd = ftr_tcp_listen(values->bind, port, err);
		if (fd < 0 && err->code != EADDRINUSE)
			break;
	}
	return fd;
}

static int listen_say(struct serving *self)
{
	const struct serve_values *values = self->values;
	char name[FTR_TCP_NAME_BYTES];
	struct ftr_err err = { 0 };

	self->listen_fd = listen_somewhere(values, &err);
	if (self->listen_fd < 0) {
		ftr_error("serve: cannot listen: %s; choose another --port or --bind", err.text);
		return FTR_EXIT_FTR;
	}
	ftr_verbose(0, "serving at %s; \"ftr recv HOST:PORT\" shows it",
		    ftr_tcp_name(self->listen_fd, true, name));
	if (ftr_tcp_is_open(self->listen_fd))
		ftr_warn("serve: %s, and nothing is encrypted; use it in networks that you trust",
			 values->token != NULL ?
				 "whoever reaches that address and knows the token sees the "
				 "program" :
				 "whoever reaches that address sees the program; --token refuses "
				 "strangers");
	return FTR_EXIT_OK;
}

/* From the first message on a signal ends the waiting, whenever it comes. */
static void signals_hold(struct serving *self)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < FTR_ENDING_SIGNALS; i++)
		sigaddset(&set, ftr_ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, &self->awake);
}

/* False: a signal came first, or there is nobody to serve clients. */
static bool client_await(const struct serving *self)
{
	struct pollfd ready = { .fd = self->ready[0], .events = POLLIN };
	bool waits = self->values->waits || self->values->has_control;
	char byte;

	return !waits || (ppoll(&ready, 1, NULL, &self->awake) > 0 &&
					read(self->ready[0], &byte, 1) == 1);
}

static int serve_in(struct serving *self, char **argv)
{
	struct ftr_record_opts opts = self->values->record;
	int status = serve_start(self);
	bool was_run, is_ready;

	if (status != FTR_EXIT_OK)
		return status;
	opts.shows_end = false;
	opts.values_stay = true;
	is_ready = client_await(self);
	sigprocmask(SIG_SETMASK, &self->awake, NULL);
	if (!is_ready) {
		ftr_error("serve: interrupted before a client came");
		status = FTR_EXIT_FTR;
	} else {
		status = ftr_record_program(&opts, self->dir, argv, &was_run);
	}
	serve_end(self);
	return status;
}

static int serve_somewhere(struct serving *self, char **argv)
{
	char *temporary = NULL;
	int status;

	if (self->values->common.data == NULL)
		ftr_signals_outlive();
	signals_hold(self);
	status = listen_say(self);
	if (status != FTR_EXIT_OK)
		return status;
	self->dir = self->values->common.data;
	if (self->dir == NULL) {
		temporary = ftr_temporary_make("serve");
		if (temporary == NULL)
			return FTR_EXIT_FTR;
		self->dir = temporary;
	}
	status = serve_in(self, argv);
	if (temporary != NULL)
		ftr_temporary_remove(temporary);
	return status;
}

static int serve_run(void *arg, int argc, char **argv)
{
	struct serving serving = { .values = arg, .listen_fd = -1 };
	const char *refused = refused_of(serving.values);

	if (serving.values->record.lists_events)
		return ftr_record_list_events(&serving.values->common,
					      argc > 0 ? argv[0] : NULL);
	if (argc == 0 && refused == NULL)
		refused = "name the program to run: ftr serve PROGRAM [ARGUMENT...]";
	if (refused != NULL) {
		ftr_error("serve: %s", refused);
		return FTR_EXIT_USAGE;
	}
	return serve_somewhere(&serving, argv);
}

const struct ftr_cmd ftr_cmd_serve = {
	.name		  = "serve",
	.usage		  = "[OPTION...] PROGRAM [ARGUMENT...]",
	.summary	  = "Run a program and send what it does to clients, over TCP",
	.options	  = serve_options,
	.values_bytes	  = sizeof(struct serve_values),
	.defaults	  = &serve_defaults,
	.stops_at_operand = true,
	.run		  = serve_run,
};
