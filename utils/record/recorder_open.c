/* SPDX-License-Identifier: MIT */
/* What a recording has before its program is there. */
#include "utils/record/recorder_state.h"

#include "arch/arch.h"
#include "utils/record/sysinfo.h"

/* A traced thread has 7, which leaves two in five of a process's to the program. */
#define MAPPINGS_PER_SLOT 12

static uint32_t control_flags(const struct ftr_recorder_options *options)
{
	return options->estimate_return ? FTR_CONTROL_ESTIMATE_RETURN : 0;
}

static struct ftr_control control_values(const struct ftr_recorder_options *options)
{
	return (struct ftr_control){
		.flags = control_flags(options),
		.clock = options->clock->is_counter ? FTR_CONTROL_CLOCK_COUNTER :
			 ftr_arch_host->ticks_agree() ? FTR_CONTROL_CLOCK_TSC :
						       FTR_CONTROL_CLOCK_VDSO,
		.clock_id = options->clock->id,
		.on_full = options->on_full,
		.ring_bytes = options->ring_bytes,
		.depth_max = options->depth_max,
		.stack_max = options->stack_max,
		.wait_ms = options->wait_ms,
		.ticks_per_ms = ftr_tick_clock_per_ms(),
		.slot_max = ftr_sysinfo_mappings_max() / MAPPINGS_PER_SLOT,
	};
}

int ftr_recorder_open(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	struct ftr_control control = control_values(options);
	int ret;

	ftr_arena_init(&recorder->arena);
	ret = ftr_tick_map_init(&recorder->ticks, control.clock != FTR_CONTROL_CLOCK_TSC);
	if (ret == 0)
		ret = ftr_control_open(&recorder->control, &control, err);
	if (ret == 0)
		ret = ftr_channel_open(&recorder->channel, options->attach_pid != 0, err);
	if (ret == 0)
		ret = ftr_store_dir_open(&recorder->store, options->dir, options->diag, err);
	recorder->store.is_packed = options->is_packed;
	if (ret < 0)
		return ret;
	if (options->flight.bytes != 0)
		ftr_store_flight_init(&recorder->flight, &recorder->store.base, &options->flight);
	if (options->summary_seconds != 0)
		ret = ftr_store_summary_open(&recorder->summary, &recorder->store,
					     options->summary_seconds, err);
	if (ret < 0)
		return ret;
	recorder->recording = (struct ftr_recording){
		.store = options->flight.bytes != 0	? &recorder->flight.base :
			 options->summary_seconds != 0 ? &recorder->summary.base :
							 &recorder->store.base,
		.diag = options->diag,
		.control = recorder->control.map,
		.ticks = &recorder->ticks,
		.events = options->events,
		.why_no_events = options->clock->is_counter ?
					 "none: --clock=counter cannot time them" :
				 options->runtime == NULL ? "none: no functions are recorded" :
				 options->nop		  ? "none: --nop" :
							    NULL,
		.is_program_self = options->keep_pid,
		.events_text = recorder->events_text,
		.thread_nr = options->thread_nr,
	};
	recorder->recording.backtraces = ftr_backtraces_new(&recorder->store.base);
	if (recorder->recording.backtraces == NULL)
		return ftr_err_set(err, ENOMEM, "recording: out of memory");
	recorder->start_s = (int64_t)(ftr_clock_now_ns(CLOCK_REALTIME) / 1000000000u);
	ftr_recorder_now(recorder);
	ret = ftr_recorder_find_running(recorder, err);
	if (ret < 0)
		return ret;
	recorder->modules.options = options->sections;
	if (options->choice != NULL) {
		recorder->choice = *options->choice;
		recorder->modules.choice = &recorder->choice;
	}
	ret = ftr_recorder_control_open(recorder, err);
	if (ret < 0)
		return ret;
	ftr_recorder_switches_start(recorder);
	ret = ftr_collectors_open(&recorder->collectors, &recorder->recording,
				  options->collectors, err);
	if (ret == 0 && !options->keep_pid)
		ftr_recorder_names_start(recorder);
	if (ret == 0)
		ret = ftr_recorder_info_start(recorder, err);
	if (ret == 0 && options->readers_opts != NULL)
		ret = ftr_uftrace_dir_options(recorder->store.dir, options->readers_opts, err);
	if (ret < 0)
		return ret;
	/* Debug info of a large program takes its time: not that of the program, which waits. */
	if (options->runtime != NULL)
		ftr_modules_prepare(&recorder->modules, options->program->image, true);
	return ftr_budget_open(&recorder->budget, ftr_uftrace_dir_fd(recorder->store.dir),
			       options->max_bytes, options->keep_bytes, err);
}
