/* SPDX-License-Identifier: MIT */
/* What clients of the agent change of a recording, and are told of it (utils/proto/agent.h). */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/text.h"
#include "utils/record/choice.h"
#include "utils/record/recorder_state.h"
#include "utils/record/value_module.h"

/*
 * Each change that a process takes over is a mapping of it for good (doc/adr/0021), of which it may
 * have 65,530.
 */
#define CHANGES_MAX 8192
#define RULES_MAX 1024
#define MESSAGE_CHARS 300

enum tracing { TRACING_STAYS, TRACING_ON, TRACING_OFF };

/* Changes of one client until they are made. */
struct staged {
	struct ftr_recorder *recorder;
	struct ftr_record_choice choice;
	uint64_t depth_max;
	enum tracing tracing;
	enum ftr_match match;
	size_t rule_nr;			/* that there were before */
	struct ftr_opt_list patched;	/* pairs: "patch" or "unpatch", and its argument */
	bool is_reset, is_dump, is_finish;
};

static struct ftr_rules *rules_of(const struct staged *staged)
{
	return staged->recorder->options->rules;
}

static int trace_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return ftr_err_set(err, EINVAL, "trace: \"%s\" is neither on nor off", value);
	staged->tracing = strcmp(value, "on") == 0 ? TRACING_ON : TRACING_OFF;
	return 0;
}

static int depth_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	if (ftr_parse_u64(ftr_slice_make(value, strlen(value)), 10, &staged->depth_max) < 0 ||
	    staged->depth_max > INT32_MAX)
		return ftr_err_set(err, EINVAL, "depth: \"%s\" is no number of levels", value);
	return 0;
}

static int time_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	if (ftr_parse_time(ftr_slice_make(value, strlen(value)), &staged->choice.time_ns, NULL) < 0)
		return ftr_err_set(err, EINVAL, "time-filter: \"%s\" is no time like 10us", value);
	return 0;
}

static int size_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	if (ftr_parse_size(ftr_slice_make(value, strlen(value)), &staged->choice.size_bytes) < 0)
		return ftr_err_set(err, EINVAL, "size-filter: \"%s\" is no size like 64", value);
	return 0;
}

static int auto_args_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	staged->choice.auto_args = true;
	return 0;
}

static int patch_add(struct staged *staged, const char *word, const char *value,
		     struct ftr_err *err)
{
	if (ftr_vec_push(&staged->patched, word) < 0 || ftr_vec_push(&staged->patched, value) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

static int patch_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	return patch_add(staged, FTR_OPTION_PATCH, value, err);
}

static int unpatch_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	return patch_add(staged, FTR_OPTION_UNPATCH, value, err);
}

static int match_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	for (int i = 0; ftr_match_words[i] != NULL; i++) {
		if (strcmp(ftr_match_words[i], value) == 0) {
			staged->match = (enum ftr_match)i;
			return 0;
		}
	}
	return ftr_err_set(err, EINVAL, "match: \"%s\" is no kind of pattern", value);
}

/* Everything is as the command line said. */
static int reset_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	const struct ftr_recorder_options *options = staged->recorder->options;

	staged->choice = *options->choice;
	staged->choice.told = &staged->recorder->told.choice;
	staged->depth_max = options->depth_max;
	staged->tracing = staged->choice.starts_off ? TRACING_OFF : TRACING_ON;
	staged->is_reset = true;
	staged->patched.nr = 0;
	return 0;
}

static int dump_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	if (!staged->choice.is_flight)
		return ftr_err_set(err, EINVAL, "dump: this is no flight recorder; record with "
				   "--overwrite=SIZE");
	staged->is_dump = true;
	return 0;
}

static int finish_stage(struct staged *staged, const char *value, struct ftr_err *err)
{
	staged->is_finish = true;
	return 0;
}

static const struct {
	const char *word;
	int (*stage)(struct staged *staged, const char *value, struct ftr_err *err);
} rows[] = {
	{ "trace", trace_stage }, { "depth", depth_stage }, { "time-filter", time_stage },
	{ "size-filter", size_stage }, { "match", match_stage }, { "reset", reset_stage },
	{ "dump", dump_stage }, { "finish", finish_stage }, { "auto-args", auto_args_stage },
	{ FTR_OPTION_PATCH, patch_stage }, { FTR_OPTION_UNPATCH, unpatch_stage },
};

/* All but those about source files, which readers follow. */
static const enum ftr_rule_kind kinds[] = {
	FTR_RULE_OF_FILTER,  FTR_RULE_OF_NOTRACE,  FTR_RULE_OF_CALLER, FTR_RULE_OF_HIDE,
	FTR_RULE_OF_TRIGGER, FTR_RULE_OF_ARGUMENT, FTR_RULE_OF_RETVAL,
};

static int change_stage(struct staged *staged, const struct ftr_agent_change *change,
			struct ftr_err *err)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].word, change->word) == 0)
			return rows[i].stage(staged, change->value, err);
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(ftr_rule_option(kinds[i]), change->word) == 0)
			return ftr_rules_parse(rules_of(staged), kinds[i], change->value,
					       staged->match, err);
	}
	return ftr_err_set(err, EINVAL, "\"%s\" cannot be changed while the program runs",
			   change->word);
}

/* Readers of the data have been told what they have to do. */
static int rule_check(const struct staged *staged, const struct ftr_rule *rule,
		      struct ftr_err *err)
{
	if ((rule->actions & FTR_RULES_VALUES) != 0 &&
	    staged->match != staged->recorder->options->choice->match)
		return ftr_err_set(err, EINVAL, "%s: which functions have values is told by one "
				   "kind of patterns in a trace, that of the recording's start: "
				   "name FUNC so", rule->text);
	if (rule->condition != NULL)
		return ftr_err_set(err, EINVAL, "%s: conditions are decided on reading; put it on "
				   "ftr replay", rule->text);
	if ((rule->actions & ftr_rule_actions_in(FTR_IN_DEFERRED)) != 0 ||
	    ftr_rule_module(rule) == FTR_RULE_MODULE_KERNEL)
		return ftr_err_set(err, EINVAL, "%s: that is done on reading; put it on ftr replay",
				   rule->text);
	return 0;
}

static bool image_find(int32_t pid, char path[PATH_MAX])
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	len = readlink(link, path, PATH_MAX - 1);
	path[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool adds_values(const struct staged *staged)
{
	const struct ftr_rules *rules = rules_of(staged);

	for (size_t i = staged->rule_nr; i < rules->rules.nr; i++) {
		if ((rules->rules.v[i].actions & FTR_RULES_VALUES) != 0)
			return true;
	}
	return staged->choice.auto_args && !staged->recorder->choice.auto_args;
}

/* Of the process that is asked about: others may have nothing of it. */
static int patch_check(const struct staged *staged, int32_t pid, struct ftr_err *err)
{
	struct ftr_recorder *recorder = staged->recorder;
	const struct ftr_process *process = ftr_process_find(&recorder->processes, pid);
	int ret;

	if (staged->patched.nr == 0 && !(staged->is_reset && recorder->patch.change_nr != 0))
		return 0;
	ret = ftr_attach_may_stop(pid, err);
	if (ret < 0 || staged->patched.nr == 0)
		return ret;
	if (process == NULL || process->code_nr == 0)
		return ftr_err_set(err, EINVAL, "nothing of process %d can be patched: what was "
				   "compiled to call a hook is not, nor is what was left by the "
				   "options that the recording was started with; choose by "
				   "--filter and --notrace", pid);
	return ftr_patch_now_check(&recorder->patch, &staged->patched, pid, &recorder->modules,
				   err);
}

/* Do the new rules make sense, and name functions that there are? */
static int rules_check(const struct staged *staged, int32_t pid, struct ftr_err *err)
{
	const struct ftr_rules *rules = rules_of(staged);
	struct ftr_rules added = { .rules = { 0 } };
	struct ftr_record_choice choice = staged->choice;
	char path[PATH_MAX];
	int ret = 0;

	added.rules.v = rules->rules.v + staged->rule_nr;
	added.rules.nr = rules->rules.nr - staged->rule_nr;
	if (rules->rules.nr > RULES_MAX)
		return ftr_err_set(err, E2BIG, "there are %d rules; begin anew with --reset",
				   RULES_MAX);
	if (staged->recorder->options->values_stay && adds_values(staged))
		return ftr_err_set(err, EINVAL, "who looks at the stream was told which values "
				   "there are when it began; give --auto-args, --argument and "
				   "--retval to ftr serve");
	choice.rules = &added;
	choice.watched = (struct ftr_opt_list){ 0 };
	choice.patched = staged->patched;
	choice.is_running = true;
	for (size_t i = 0; ret == 0 && i < added.rules.nr; i++)
		ret = rule_check(staged, &added.rules.v[i], err);
	if (ret == 0)
		ret = ftr_record_choice_check(&choice, err);
	if (ret == 0)
		ret = ftr_values_check(&choice, err);
	if (ret == 0)
		ret = patch_check(staged, pid, err);
	if (ret == 0 && added.rules.nr + staged->patched.nr > 0 && image_find(pid, path))
		ret = ftr_record_choice_match(&choice, path, err);
	return ret > 0 ? 0 : ret;	/* it may be about a library that is opened later */
}

/* Readers know of values before any are recorded.  0 or -EINVAL with the reason. */
static int values_tell(const struct staged *staged, struct ftr_err *err)
{
	struct ftr_recorder *recorder = staged->recorder;
	struct ftr_told *told = &recorder->told;
	int ret = 0;

	if (adds_values(staged))
		ret = ftr_told_add(told, &staged->choice, staged->rule_nr, &recorder->modules,
				   err);
	if (ret <= 0)
		return ret;
	ftr_modules_retell(&recorder->modules, recorder->store.dir);
	ftr_recorder_info_values(recorder);
	return 0;
}

/* What was asked for, as the trace tells it. */
static void change_tell(struct ftr_recorder *recorder, const struct ftr_agent_ask *ask)
{
	struct ftr_strbuf text;
	char *end;

	ftr_recorder_drain(recorder);	/* what was before stands before it, whatever the clock */
	ftr_strbuf_init(&text);
	ftr_strbuf_puts(&text, "control:");
	for (size_t i = 0; i < ask->changes.nr; i++)
		ftr_strbuf_printf(&text, "%s %s%s%s", i > 0 ? "," : "", ask->changes.v[i].word,
				  ask->changes.v[i].value[0] != '\0' ? " " : "",
				  ask->changes.v[i].value);
	if (text.len > MESSAGE_CHARS)
		memcpy(text.s + MESSAGE_CHARS - 3, "...", sizeof("..."));
	for (end = text.s; end != NULL && *end != '\0'; end++)
		*end = *end == '\n' ? ' ' : *end;
	if (ftr_uftrace_dir_message(recorder->store.dir, ftr_recorder_now(recorder),
				    ftr_strbuf_str(&text)) < 0)
		ftr_store_dir_failed(&recorder->store, "extern.dat", EIO);
	ftr_strbuf_fini(&text);
}

/* The helper follows in the recorder's next turn. */
static void patch_make(const struct staged *staged)
{
	struct ftr_patch_now *patch = &staged->recorder->patch;
	struct ftr_err ignored = { 0 };

	if (staged->patched.nr == 0 && !(staged->is_reset && patch->change_nr != 0))
		return;
	if (staged->is_reset)
		ftr_patch_now_reset(patch);
	(void)ftr_patch_now_add(patch, &staged->patched, &ignored);
	staged->recorder->modules.patch_values = &patch->values;
	patch->change_nr++;
}

static void changes_make(const struct staged *staged)
{
	static const struct ftr_err why = { .text = "ftr ctl finished it" };
	struct ftr_recorder *recorder = staged->recorder;

	if (staged->is_reset)
		ftr_told_remove(&recorder->told, rules_of(staged), recorder->rule_nr,
				staged->rule_nr - recorder->rule_nr);
	recorder->choice = staged->choice;
	patch_make(staged);
	atomic_store(&recorder->control.map->depth_max, (uint32_t)staged->depth_max);
	if (staged->tracing != TRACING_STAYS)
		ftr_modules_trace(&recorder->modules, staged->tracing == TRACING_ON);
	else
		ftr_modules_renew(&recorder->modules);
	atomic_store(&recorder->control.map->generation, recorder->modules.generation);
	recorder->change_nr++;
	if (staged->is_dump) {
		ftr_recorder_drain(recorder);
		ftr_recorder_dump(recorder);
	}
	if (staged->is_finish)
		ftr_recorder_stop(recorder, &why);
}

static bool only_ends(const struct ftr_agent_ask *ask)
{
	return ask->changes.nr == 1 && strcmp(ask->changes.v[0].word, "finish") == 0;
}

static int control_change(void *arg, const struct ftr_agent_ask *ask, struct ftr_err *err)
{
	struct ftr_recorder *recorder = arg;
	struct staged staged = {
		.recorder = recorder,
		.choice = recorder->choice,
		.depth_max = atomic_load(&recorder->control.map->depth_max),
		.match = ask->has_globs ? FTR_MATCH_GLOB : recorder->choice.match,
		.rule_nr = recorder->options->rules->rules.nr,
	};
	int ret = 0;

	if (recorder->store.is_closed)
		return ftr_err_set(err, EPIPE, "the recording has ended");
	if (recorder->change_nr >= CHANGES_MAX && !only_ends(ask))
		return ftr_err_set(err, E2BIG, "this recording was changed %d times, which is all "
				   "that it takes; only --finish is left", CHANGES_MAX);
	for (size_t i = 0; ret == 0 && i < ask->changes.nr; i++)
		ret = change_stage(&staged, &ask->changes.v[i], err);
	if (ret == 0)
		ret = rules_check(&staged, ask->pid, err);
	if (ret == 0)
		ret = values_tell(&staged, err);
	if (ret < 0) {
		ftr_rules_remove(rules_of(&staged), staged.rule_nr,
				 rules_of(&staged)->rules.nr - staged.rule_nr);
		ftr_vec_fini(&staged.patched);
		return ret;
	}
	if (ask->changes.nr > 0) {
		change_tell(recorder, ask);
		changes_make(&staged);
	}
	ftr_vec_fini(&staged.patched);
	return 0;
}

static void state_lost(const struct ftr_recorder *recorder, struct ftr_strbuf *text)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < FTR_LOST_CAUSES; i++)
		lost += recorder->store.lost[i];
	if (lost != 0)
		ftr_strbuf_printf(text, "lost: %" PRIu64 " records\n", lost);
}

static void state_choice(const struct ftr_recorder *recorder, struct ftr_strbuf *text)
{
	const struct ftr_section_tracing *tracing = &recorder->modules.tracing;
	bool is_off = tracing->nr != 0 ? tracing->is_off : recorder->choice.starts_off;
	uint32_t depth_max = atomic_load(&recorder->control.map->depth_max);
	const struct ftr_rules *rules = recorder->choice.rules;
	char time[FTR_DURATION_CHARS + 1] = "";

	ftr_strbuf_printf(text, "tracing: %s\n", recorder->store.is_closed ? "has ended" :
			  is_off ? "off" : "on");
	if (depth_max != 0)
		ftr_strbuf_printf(text, "depth: %" PRIu32 "\n", depth_max);
	if (recorder->choice.time_ns != 0) {
		*ftr_fmt_duration(time, recorder->choice.time_ns) = '\0';
		ftr_strbuf_printf(text, "time-filter: %s\n", time + strspn(time, " "));
	}
	if (recorder->choice.size_bytes != 0)
		ftr_strbuf_printf(text, "size-filter: %" PRIu64 "\n", recorder->choice.size_bytes);
	for (size_t i = 0; recorder->patch.change_nr != 0 && i < recorder->patch.values.given.nr;
	     i += 2)
		ftr_strbuf_printf(text, "%s: %s\n", recorder->patch.values.given.v[i],
				  recorder->patch.values.given.v[i + 1]);
	for (size_t i = 0; i < rules->rules.nr; i++)
		ftr_strbuf_printf(text, "%s: %s\n", ftr_rule_option(rules->rules.v[i].kind),
				  rules->rules.v[i].text);
}

/* Once it has changed: what a program that was started has done by itself is not counted. */
static void state_patched(const struct ftr_recorder *recorder, int32_t pid, struct ftr_strbuf *text)
{
	const struct ftr_process *process = ftr_process_find(&recorder->processes, pid);

	if (process == NULL || process->code_nr == 0 || recorder->patch.change_nr == 0)
		return;
	ftr_strbuf_printf(text, "patched: %u function%s%s\n", process->code.made_nr,
			  process->code.made_nr == 1 ? "" : "s",
			  process->patch_change_nr != recorder->patch.change_nr ||
					  recorder->attached.helper != 0 ? ", changing" : "");
}

static void control_state(void *arg, int32_t pid, struct ftr_strbuf *text)
{
	const struct ftr_recorder *recorder = arg;
	char path[PATH_MAX];

	if (image_find(pid, path))
		ftr_strbuf_printf(text, "program: %s\n", path);
	ftr_strbuf_printf(text, "data: %s\nrecorder: process %d\n", recorder->options->dir,
			  (int)getpid());
	state_choice(recorder, text);
	state_patched(recorder, pid, text);
	ftr_strbuf_printf(text, "changes: %u\nprocesses: %zu\ntasks: %zu\n", recorder->change_nr,
			  recorder->processes.all.nr, recorder->store.tids.nr);
	ftr_strbuf_printf(text, "calls: %" PRIu64 "\nrecords: %" PRIu64 "\n",
			  recorder->store.calls, recorder->store.records);
	state_lost(recorder, text);
	ftr_strbuf_printf(text, "written: %" PRIu64 " bytes\n", recorder->store.bytes);
}

int ftr_recorder_control_open(struct ftr_recorder *recorder, struct ftr_err *err)
{
	const struct ftr_agent_handler handler = {
		.arg = recorder, .change = control_change, .state = control_state,
	};

	if (!recorder->options->has_agent)
		return 0;
	recorder->rule_nr = recorder->options->rules->rules.nr;
	if (ftr_told_init(&recorder->told, recorder->options->choice) < 0)
		return ftr_err_set(err, ENOMEM, "recording: out of memory");
	recorder->choice.told = &recorder->told.choice;
	ftr_patch_now_init(&recorder->patch, recorder->options->sections);
	return ftr_agent_open(&recorder->agent, &handler, err);
}

void ftr_recorder_control_listen(struct ftr_recorder *recorder, int32_t pid)
{
	struct ftr_err err = { 0 };

	if (recorder->agent.epoll_fd >= 0 && ftr_agent_listen(&recorder->agent, pid, &err) < 0)
		ftr_diag_warn(recorder->options->diag, "%s", err.text);
}
