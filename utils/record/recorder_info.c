/* SPDX-License-Identifier: MIT */
/* The info file in the course of a recording. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/base/vec.h"
#include "utils/record/choice.h"
#include "utils/record/overhead.h"
#include "utils/record/recorder_state.h"
#include "utils/record/sections.h"
#include "utils/record/value_module.h"

#define REWRITE_INTERVAL_NS UINT64_C(50000000)
#define NSEC_PER_SEC INT64_C(1000000000)

/* As uftrace calls them. */
static const char *const pattern_types[] = {
	[FTR_MATCH_REGEX] = "regex", [FTR_MATCH_GLOB] = "glob", [FTR_MATCH_EXACT] = "simple",
};

/*
 * Not ESTIMATE_RETURN: uftrace's readers would move the ends of calls, which are times that it
 * guessed; ours were seen (doc/adr/0018).
 */
static void info_features(struct ftr_info *info, const struct ftr_recorder *recorder)
{
	const struct ftr_section_maker *maker;
	size_t pos = 0;

	info->feature_mask |= FTR_FEATURE_TASK_SESSION | FTR_FEATURE_SYM_REL_ADDR |
			      FTR_FEATURE_MAX_STACK;
	while ((maker = ftr_section_maker_next(&pos)) != NULL)
		if (ftr_recorder_switch_wanted(recorder, maker) != FTR_SWITCH_OFF)
			info->feature_mask |= maker->feature;
	if (recorder->store.has_events)
		info->feature_mask |= FTR_FEATURE_EVENT;
	if (recorder->store.has_kernel)
		info->feature_mask |= FTR_FEATURE_KERNEL;
	if (recorder->store.has_perf)
		info->feature_mask |= FTR_FEATURE_PERF_EVENT;
}

/* uftrace orders what tasks do at the same nanosecond as they stand here, ftr by tid. */
static void info_tasks(struct ftr_info *info, struct ftr_recorder *recorder)
{
	if (recorder->store.tids.nr == 0)
		return;
	ftr_vec_sort_int32(recorder->store.tids.v, recorder->store.tids.nr);
	info->task_nr = (uint32_t)recorder->store.tids.nr;
	info->tids = recorder->store.tids.v;
	info->info_mask |= FTR_INFO_TASKINFO;
}

/* UNIX time minus trace time; the counter clock has none. */
static void info_utc_offset(struct ftr_info *info, const struct ftr_recorder_options *options)
{
	int64_t offset_ns;

	if (options->clock->is_counter)
		return;
	offset_ns = (int64_t)(ftr_clock_now_ns(CLOCK_REALTIME) -
			      ftr_clock_now_ns(options->clock->id));
	info->utc_offset_s = offset_ns / NSEC_PER_SEC;
	info->info_mask |= FTR_INFO_UTC_OFFSET;
}

int ftr_recorder_info_start(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = recorder->options;
	struct ftr_info *info = &recorder->info;

	info->is_packed = options->is_packed;
	/* Records are this machine's, also those of programs of the machine beside it. */
	info->elf_data = ftr_arch_host->elf_data;
	info->elf_class = ftr_arch_host->elf_class;
	info->max_stack = (uint16_t)(options->stack_max < UINT16_MAX ? options->stack_max
								    : UINT16_MAX);
	info->exename = options->program->image;
	info->build_id = options->program->elf.build_id;
	info->cmdline = options->cmdline;
	info->pattern_type = pattern_types[options->choice != NULL ? options->choice->match :
								    FTR_MATCH_REGEX];
	info->events = recorder->events_text;
	info->recorder_version = options->version;
	info->info_mask = FTR_INFO_EXE_NAME | FTR_INFO_CMDLINE | FTR_INFO_PATTERN_TYPE |
			  FTR_INFO_VERSION | FTR_INFO_EVENTS;
	if (info->build_id[0] != '\0')
		info->info_mask |= FTR_INFO_EXE_BUILD_ID;
	ftr_sysinfo_machine(info, &recorder->arena);
	info_utc_offset(info, options);
	if (ftr_sections_info(info, options->choice, &recorder->arena) < 0)
		return ftr_err_set(err, ENOMEM, "info: out of memory");
	ftr_sysinfo_time(info, &recorder->arena, recorder->start_s, 0);
	info_features(info, recorder);
	return ftr_uftrace_dir_info(recorder->store.dir, info, err);
}

/* The counter clock counts readings, not time. */
static void info_overhead(struct ftr_info *info, const struct ftr_recorder *recorder)
{
	if (!recorder->options->clock->is_counter &&
	    ftr_overhead_measure(ftr_uftrace_dir_fd(recorder->store.dir), recorder->store.tids.v,
				 recorder->store.tids.nr, &info->overhead_call_ns,
				 &info->overhead_caller_ns))
		info->info_mask |= FTR_INFO_OVERHEAD;
}

static void info_write(struct ftr_recorder *recorder)
{
	struct ftr_err err = { 0 };

	info_features(&recorder->info, recorder);
	info_tasks(&recorder->info, recorder);
	if (ftr_uftrace_dir_info(recorder->store.dir, &recorder->info, &err) < 0)
		ftr_store_dir_failed(&recorder->store, "info", err.code);
	recorder->is_info_stale = false;
	recorder->info_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
}

/*
 * Readers skip the data of tasks that info does not list, so a killed recorder must have listed
 * them.
 */
void ftr_recorder_info_update(struct ftr_recorder *recorder)
{
	if (recorder->is_info_stale &&
	    ftr_clock_now_ns(CLOCK_MONOTONIC) - recorder->info_ns > REWRITE_INTERVAL_NS)
		info_write(recorder);
}

void ftr_recorder_info_values(struct ftr_recorder *recorder)
{
	if (ftr_values_info(&recorder->info, &recorder->told.choice, &recorder->arena) < 0)
		ftr_store_dir_failed(&recorder->store, "info", ENOMEM);
	info_write(recorder);
}

void ftr_recorder_info_end(struct ftr_recorder *recorder)
{
	const struct ftr_recorder_result *result = recorder->result;
	struct ftr_info *info = &recorder->info;

	if (result->has_status) {
		info->exit_status = result->wait_status;
		info->info_mask |= FTR_INFO_EXIT_STATUS;
	}
	if (result->has_usage)
		ftr_sysinfo_usage(info, &recorder->arena, &result->usage);
	ftr_sysinfo_time(info, &recorder->arena, recorder->start_s, result->elapsed_ns);
	info_overhead(info, recorder);
	info_write(recorder);
}
