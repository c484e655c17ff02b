/* SPDX-License-Identifier: MIT */
/* The state of one recording, shared by the files recorder*.c. */
#ifndef FTR_RECORD_RECORDER_STATE_H
#define FTR_RECORD_RECORDER_STATE_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "utils/record/agent.h"
#include "utils/record/attached.h"
#include "utils/record/backtraces.h"
#include "utils/record/budget.h"
#include "utils/record/channel.h"
#include "utils/record/choice.h"
#include "utils/record/collector.h"
#include "utils/record/control.h"
#include "utils/record/lineage.h"
#include "utils/record/maps.h"
#include "utils/record/modules.h"
#include "utils/record/nursery.h"
#include "utils/record/patch_now.h"
#include "utils/record/process.h"
#include "utils/record/recorder.h"
#include "utils/record/store_dir.h"
#include "utils/record/store_flight.h"
#include "utils/record/store_summary.h"
#include "utils/record/syscalls.h"
#include "utils/record/sysinfo.h"
#include "utils/record/tick.h"
#include "utils/record/told.h"

/* A file that was found to be traced when it is run. */
struct ftr_exec_known {
	struct ftr_tried_file file;
	uid_t uid;			/* of who runs it */
	bool is_anyones;		/* whoever runs it, and */
	bool is_settled; /* it had not been changed just before: a change would be seen by now */
};

struct ftr_recorder {
	const struct ftr_recorder_options *options;
	struct ftr_recorder_result *result;
	struct ftr_recording recording;		/* what collectors see */

	struct ftr_store_dir store;
	struct ftr_store_flight flight;		/* before it, when options->flight asks for it */
	struct ftr_store_summary summary;	/* likewise, options->summary_seconds */
	struct ftr_budget budget;
	struct ftr_control_block control;
	struct ftr_channel channel;
	struct ftr_channel_request request;	/* the one at hand */
	struct ftr_tick_map ticks;
	struct ftr_processes processes;
	struct ftr_lineage lineage;
	struct ftr_modules modules;
	struct ftr_record_choice choice;	/* options->choice, as it is now */
	struct ftr_agent agent;			/* when options->has_agent */
	struct ftr_patch_now patch;		/* likewise: which functions are patched */
	struct ftr_told told;			/* likewise: what there ever were of values */
	size_t rule_nr;				/* of the choice's rules: those of the start */
	unsigned change_nr;			/* made by clients of the agent */
	struct ftr_collectors collectors;
	struct ftr_record_nurseries nurseries;

	FTR_VEC(struct ftr_exec_known) execs;
	FTR_VEC(char *) warned;			/* (owned) texts of warnings */
	char events_text[FTR_EVENTS_TEXT_BYTES];	/* of the collector of perf events */
	struct ftr_info info;
	struct ftr_arena arena;			/* strings of info */
	bool is_info_stale;			/* a task is not in it yet */
	uint64_t info_ns;			/* CLOCK_MONOTONIC of the last rewrite */

	int32_t *running;			/* (owned, nullable) of recording */
	int32_t attaching_pid;			/* it is being attached to; 0 = none is */
	struct ftr_record_attached attached;	/* who patches what was loaded since attaching */
	struct ftr_record_syscalls syscalls;	/* when options->has_syscalls */
	int epoll_fd;
	int signal_fd;
	pid_t child;				/* the program; 0 = has ended */
	bool is_child_ours;			/* to be waited for */
	unsigned stop_requests;
	uint64_t orphans_ns;  /* CLOCK_MONOTONIC when processes that had not reported
			       * themselves were last there, 0 = never */
	bool is_silence_reported; /* the runtime did not connect, and the user was warned */
	uint64_t start_ns;			/* CLOCK_MONOTONIC */
	int64_t start_s;			/* UNIX time */
};

/* Read the clock beside the ticks; returns trace time now. */
uint64_t ftr_recorder_now(struct ftr_recorder *recorder);

/* Drain all sources; returns how full the fullest of them was, in percent. */
unsigned ftr_recorder_drain(struct ftr_recorder *recorder);

/*
 * This is the end of the recording, not of the program, which runs on untraced and is waited for.
 */
void ftr_recorder_stop(struct ftr_recorder *recorder, const struct ftr_err *why);

/*
 * A program that runs is found, with the processes that are to be recorded with it, attached to,
 * and left: recorder_attach.c.
 */
int  ftr_recorder_find_running(struct ftr_recorder *recorder, struct ftr_err *err);
int  ftr_recorder_attach(struct ftr_recorder *recorder, struct ftr_err *err);
void ftr_recorder_leave(struct ftr_recorder *recorder);
/* What is loaded meanwhile is patched, when a message CODE has said so. */
void ftr_recorder_code_turn(struct ftr_recorder *recorder);

/* What the loop needs; the signals of @signals are read. */
int ftr_recorder_loop_open(struct ftr_recorder *recorder, const sigset_t *signals,
			   struct ftr_err *err);

/* Answer and read what is there, and wait for more up to @wait_ns. */
void ftr_recorder_turn(struct ftr_recorder *recorder, uint64_t wait_ns);

/* Act on the signals that have come. */
void ftr_recorder_signals_read(struct ftr_recorder *recorder);

/* Write what a flight recorder holds back. */
void ftr_recorder_dump(struct ftr_recorder *recorder);

/* Make everything but the program, and release it. */
int  ftr_recorder_open(struct ftr_recorder *recorder, struct ftr_err *err);
void ftr_recorder_close(struct ftr_recorder *recorder);

/* Wait for messages at the channel's path, too. */
int ftr_recorder_listen(struct ftr_recorder *recorder);

/* The reply to a message, and what is left to do once it has been sent. */
struct ftr_recorder_reply {
	struct ftr_err refusal;		/* code 0: it is not refused */
	uint64_t base, time;
	int fds[FTR_CHANNEL_REPLY_FDS];	/* (borrowed) */
	unsigned fd_nr;

	char path[FTR_CHANNEL_PATH_MAX + 1]; /* SESSION, MODULE: whose symbols may be missing */
	struct ftr_maps maps;		/* SESSION: what is mapped */
	int32_t tid;			/* in our namespace: the task that got a ring; 0 = none */
};

/*
 * Work out the reply to recorder->request; sends nothing.  The sender waits, so what can wait is
 * left to ftr_recorder_answered.
 */
void ftr_recorder_answer(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
/* The rest, and release @reply.  @is_sent: the sender was there to receive it. */
void ftr_recorder_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
			   bool is_sent);

/*
 * Switch a probe of the runtime (FTR_SWITCH_* flags), in every traced process; images that run
 * already take it over when they next leave the common path.
 */
void ftr_recorder_switch(struct ftr_recorder *recorder, const char *probe, uint32_t value);

/* Likewise, tracing as a whole. */
void ftr_recorder_trace(struct ftr_recorder *recorder, bool is_on);

struct ftr_section_maker;

/* The FTR_SWITCH_* flags that the options and the recording ask for, of the maker's probe. */
uint32_t ftr_recorder_switch_wanted(const struct ftr_recorder *recorder,
				    const struct ftr_section_maker *maker);
/* Switch all probes to these. */
void ftr_recorder_switches_start(struct ftr_recorder *recorder);

/* Where the kernel does not report names of tasks, have the runtime do so. */
void ftr_recorder_names_start(struct ftr_recorder *recorder);

/* Are there calls that are to be recorded with their stacks? */
static inline bool ftr_recorder_has_backtraces(const struct ftr_recorder *recorder)
{
	const struct ftr_rules *rules = recorder->choice.rules;

	return rules != NULL && (ftr_rules_actions(rules) & FTR_RULE_BACKTRACE) != 0;
}

/* Helpers of those who work out replies. */
void ftr_recorder_refuse(struct ftr_recorder_reply *reply, const char *reason);
void ftr_recorder_reply_fd(struct ftr_recorder_reply *reply, int fd);

/* The message SESSION: recorder_session.c. */
void ftr_recorder_answer_session(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
void ftr_recorder_session_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
				   bool is_sent);
/* What the runtime gets of the image that the sender runs, once more. */
void ftr_recorder_image_reply(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);

/* A line of task.txt was written, or was not: @ret is -errno. */
void ftr_recorder_line_check(struct ftr_recorder *recorder, int ret);

/* The rest of TASK, where there was one (reply->tid). */
void ftr_recorder_task_answered(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply,
				bool is_sent);

/* The task of recorder->request starts, or goes on in another ring.  0, or -errno, described. */
int ftr_recorder_task(struct ftr_recorder *recorder, struct ftr_task_start *start,
		      struct ftr_task_answer *answer, struct ftr_err *err);

/* The message NURSERY; and children that have claimed rings since the last time are tasks now. */
void ftr_recorder_answer_nursery(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
void ftr_recorder_claims_take(struct ftr_recorder *recorder);

/* Warn once a text of what the recording of @pid lacks, and put it into the trace each time. */
void ftr_recorder_warn(struct ftr_recorder *recorder, int32_t pid, const char *text);
/* Warns of the threads that had no ring; when all rings were drained for the last time. */
void ftr_recorder_untraced_report(struct ftr_recorder *recorder);
void ftr_recorder_warn_fini(struct ftr_recorder *recorder);
/* The messages CODE, EXEC and WARN. */
void ftr_recorder_answer_code(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
void ftr_recorder_answer_exec(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);
void ftr_recorder_answer_warn(struct ftr_recorder *recorder, struct ftr_recorder_reply *reply);

/* The agent, unless it is not asked for; a process that can be reached by it from now on. */
int  ftr_recorder_control_open(struct ftr_recorder *recorder, struct ftr_err *err);
void ftr_recorder_control_listen(struct ftr_recorder *recorder, int32_t pid);

/* The image of @pid is gone: its rings are drained for the last time. */
void ftr_recorder_image_end(struct ftr_recorder *recorder, int32_t pid);

/* info: what is known before the program starts, new tasks meanwhile, everything at the end. */
int  ftr_recorder_info_start(struct ftr_recorder *recorder, struct ftr_err *err);
void ftr_recorder_info_update(struct ftr_recorder *recorder);
/* What readers need to know of values has grown. */
void ftr_recorder_info_values(struct ftr_recorder *recorder);
void ftr_recorder_info_end(struct ftr_recorder *recorder);

#endif /* FTR_RECORD_RECORDER_STATE_H */
