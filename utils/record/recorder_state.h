/* SPDX-License-Identifier: MIT */
/* The state of one recording, shared by the files recorder*.c. */
#ifndef FTR_RECORD_RECORDER_STATE_H
#define FTR_RECORD_RECORDER_STATE_H

#include <sys/types.h>

#include "utils/record/channel.h"
#include "utils/record/collector.h"
#include "utils/record/control.h"
#include "utils/record/maps.h"
#include "utils/record/modules.h"
#include "utils/record/process.h"
#include "utils/record/recorder.h"
#include "utils/record/store_dir.h"
#include "utils/observe/job.h"
#include "utils/record/sysinfo.h"
#include "utils/record/tick.h"

#define FTR_RECORDER_COLLECTORS_MAX 8

struct ftr_recorder {
	const struct ftr_recorder_options *options;
	struct ftr_recorder_result *result;
	struct ftr_recording recording;		/* what collectors see */

	struct ftr_store_dir store;
	struct ftr_control_block control;
	struct ftr_channel channel;
	struct ftr_channel_request request;	/* the one at hand */
	struct ftr_tick_map ticks;
	struct ftr_processes processes;
	struct ftr_modules modules;
	struct {
		const struct ftr_collector *ops;
		void *self;
	} collectors[FTR_RECORDER_COLLECTORS_MAX];
	unsigned collector_nr;

	FTR_VEC(char *) said;			/* (owned) texts of warnings */
	char events_text[FTR_EVENTS_TEXT_BYTES];	/* of the collector of perf events */
	struct ftr_info info;
	struct ftr_arena arena;			/* strings of info */
	bool is_info_stale;			/* a task is not in it yet */
	uint64_t info_ns;			/* CLOCK_MONOTONIC of the last rewrite */

	struct ftr_syscall_job syscalls;	/* when options->has_syscalls */
	int epoll_fd;
	int signal_fd;
	pid_t child;				/* the program; 0 = has ended */
	bool is_child_ours;			/* to be waited for */
	unsigned stop_requests;
	uint64_t orphans_ns;  /* CLOCK_MONOTONIC when processes that had not reported
			       * themselves were last there, 0 = never */
	bool is_silence_said; /* the runtime did not report itself, and that was said */
	uint64_t start_ns;			/* CLOCK_MONOTONIC */
	int64_t start_s;			/* UNIX time */
};

/* Read the clock beside the ticks; returns trace time now. */
uint64_t ftr_recorder_now(struct ftr_recorder *recorder);

/* Wait for messages at the channel's path, too. */
int ftr_recorder_listen(struct ftr_recorder *recorder);

/* Answer the message in recorder->request. */
void ftr_recorder_answer(struct ftr_recorder *recorder);

/*
 * Where the kernel does not tell of names: ask the runtime to, and store that of a task; when it
 * starts only if it is not called like its image.
 */
void ftr_recorder_names_start(struct ftr_recorder *recorder);
void ftr_recorder_name(struct ftr_recorder *recorder, int32_t pid, int32_t tid, uint64_t time_ns,
		       bool is_start);

/*
 * Warn of what is not in the recording of @pid, once a text, and put it into the data at each time.
 */
void ftr_recorder_say(struct ftr_recorder *recorder, int32_t pid, const char *text);
void ftr_recorder_say_fini(struct ftr_recorder *recorder);
/* The messages EXEC and SAY. */
void ftr_recorder_answer_exec(struct ftr_recorder *recorder);
void ftr_recorder_answer_say(struct ftr_recorder *recorder);

/* Tell the collectors that the image of @pid is gone. */
void ftr_recorder_image_end(struct ftr_recorder *recorder, int32_t pid);

/* info: what is known before the program starts, new tasks meanwhile, everything at the end. */
int  ftr_recorder_info_start(struct ftr_recorder *recorder, struct ftr_err *err);
void ftr_recorder_info_update(struct ftr_recorder *recorder);
void ftr_recorder_info_end(struct ftr_recorder *recorder);

#endif /* FTR_RECORD_RECORDER_STATE_H */
