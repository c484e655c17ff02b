/* SPDX-License-Identifier: MIT */
/* What signals to the recorder do: to the recording, or to the program. */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "utils/record/job.h"
#include "utils/record/recorder_state.h"
#include "utils/record/signals.h"

#define STOP_REQUESTS_MAX 3		/* then the program is left to itself */

/* Is the signal one that does something to the recording? */
static bool signal_act(struct ftr_recorder *recorder, int signo)
{
	const struct ftr_err why = { .text = "a signal finished it (--signal)" };
	enum ftr_signal_action action = ftr_signal_actions_find(recorder->options->signals, signo);

	switch (action) {
	case FTR_SIGNAL_DUMP:
		ftr_recorder_drain(recorder);
		ftr_recorder_dump(recorder);
		return true;
	case FTR_SIGNAL_TRACE_ON:
	case FTR_SIGNAL_TRACE_OFF:
		ftr_recorder_trace(recorder, action == FTR_SIGNAL_TRACE_ON);
		return true;
	case FTR_SIGNAL_FINISH:
		if (!recorder->store.is_closed)
			ftr_recorder_stop(recorder, &why);
		return true;
	default:
		return false;
	}
}

/*
 * The terminal's signals reach the program without us, and so do those that a traced process sends
 * to the whole group; those sent to us alone are handed on.  When it has ended, or does not care,
 * requests to end are meant for the recording.
 */
static void signal_handle(struct ftr_recorder *recorder, const struct signalfd_siginfo *info)
{
	int signo = (int)info->ssi_signo;

	if (signal_act(recorder, signo))
		return;
	if (ftr_job_is_request_to_end(signo)) {
		recorder->stop_requests++;
		if (recorder->child == 0 || recorder->options->attach_pid != 0 ||
		    recorder->stop_requests >= STOP_REQUESTS_MAX) {
			recorder->result->was_stopped = true;
			return;
		}
	}
	if (recorder->child == 0 || !recorder->is_child_ours)
		return;
	if (signo == SIGCHLD)
		ftr_job_follow(recorder->child);
	else if (signo == SIGCONT)
		ftr_job_continue(recorder->child);
	else if (info->ssi_code <= 0 &&
		 ftr_process_find(&recorder->processes, (int32_t)info->ssi_pid) == NULL)
		kill(recorder->child, signo);
}

void ftr_recorder_signals_read(struct ftr_recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == sizeof(info))
		signal_handle(recorder, &info);
}
