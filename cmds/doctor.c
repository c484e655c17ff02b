/* SPDX-License-Identifier: MIT */
/* ftr doctor: what tracing a program would come to, what blocks it, and what it would cost. */
#include "cmds/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/output.h"
#include "utils/base/text.h"
#include "utils/cli/common.h"
#include "utils/record/doctor.h"
#include "utils/view/json.h"

struct doctor_values {
	struct ftr_common common;
	uint64_t calls;
	bool json;
};

static const struct ftr_option doctor_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct doctor_values, common),
	FTR_OPTION("calls", 0, "N",
		   "Only call an empty function N times and print the ns of a call; doctor records "
		   "itself doing so", ftr_opt_u64, struct doctor_values, calls, .min = 1000,
		   .max = UINT32_MAX),
	FTR_OPTION("json", 0, NULL, "Print a JSON object a module and obstacle, and one of it all",
		   ftr_opt_flag, struct doctor_values, json),
	{ 0 }
};

/* What is printed. */
struct report {
	const struct ftr_doctor *doctor;
	const char *name;		/* as it was given */
	struct ftr_call_cost cost;
	struct ftr_err cost_err;	/* why there is none */
};

static const struct hook_word {
	unsigned hook;
	const char *word;
} hook_words[] = {
	{ FTR_ELF_HOOK_MCOUNT, "-pg" },
	{ FTR_ELF_HOOK_FENTRY, "-mfentry" },
	{ FTR_ELF_HOOK_CYGPROF, "-finstrument-functions" },
	{ FTR_ELF_HOOK_PATCHABLE, "-fpatchable-function-entry" },
	{ FTR_ELF_HOOK_MCOUNT_LOC, "-mrecord-mcount" },
	{ FTR_ELF_HOOK_XRAY, "-fxray-instrument" },
};

/* "-pg, -mrecord-mcount", or "none" */
static const char *hooks_text(char text[160], unsigned hooks)
{
	size_t len = 0;

	snprintf(text, 160, "none");
	for (size_t i = 0; i < sizeof(hook_words) / sizeof(hook_words[0]); i++) {
		if ((hooks & hook_words[i].hook) != 0)
			len += (size_t)snprintf(text + len, 160 - len, "%s%s", len > 0 ? ", " : "",
						hook_words[i].word);
	}
	return text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* ---- for people ---- */

static void module_print(const struct ftr_doctor_module *module, struct ftr_ostream *out)
{
	char hooks[160], functions[48];

	if (module->way == FTR_DOCTOR_OUTSIDE || module->way == FTR_DOCTOR_NONE)
		snprintf(functions, sizeof(functions), "-");
	else if (module->way == FTR_DOCTOR_HOOKS)
		snprintf(functions, sizeof(functions), "up to %u", module->functions);
	else
		snprintf(functions, sizeof(functions), "%u of %u", module->seen,
			 module->functions);
	ftr_ostream_printf(out, "%-28s %-24s %16s  %s%s\n", base_name(module->path),
			   hooks_text(hooks, module->hooks), functions,
			   ftr_doctor_way_text(module->way),
			   module->way == FTR_DOCTOR_PLAIN_ASKED ? base_name(module->path) : "");
}

static void cost_print(const struct report *report, struct ftr_ostream *out)
{
	if (report->cost_err.code != 0)
		ftr_ostream_printf(out, "What a traced call costs was not measured: %s.\n",
				   report->cost_err.text);
	else
		ftr_ostream_printf(out, "A traced call costs %.1f ns here, measured with an empty "
				   "function: %.1f ns instead of %.1f.\n",
				   report->cost.traced_ns - report->cost.native_ns,
				   report->cost.traced_ns, report->cost.native_ns);
}

static void report_print(const struct report *report, struct ftr_ostream *out)
{
	const struct ftr_doctor *doctor = report->doctor;

	if (doctor->program.image != NULL && doctor->program.is_script)
		ftr_ostream_printf(out, "%s is a script: what is traced is its interpreter.\n\n",
				   report->name);
	if (doctor->modules.nr > 0) {
		ftr_ostream_printf(out, "%-28s %-24s %16s  %s\n", "MODULE", "INSTRUMENTED BY",
				   "FUNCTIONS", "FTR USES");
		for (size_t i = 0; i < doctor->modules.nr; i++)
			module_print(&doctor->modules.v[i], out);
		ftr_ostream_printf(out, "and hooks %u library calls of the program.\n\n",
				   doctor->modules.v[0].libcalls);
	}
	for (size_t i = 0; i < doctor->obstacles.nr; i++)
		ftr_ostream_printf(out, "%-9s %s\n",
				   ftr_doctor_of_text(doctor->obstacles.v[i].of),
				   doctor->obstacles.v[i].text);
	ftr_ostream_printf(out, "%s%s: ", doctor->obstacles.nr > 0 ? "\n" : "", report->name);
	if (ftr_doctor_is_blocked(doctor))
		ftr_ostream_puts(out, "cannot be traced; \"tracing\" above says why.\n");
	else
		ftr_ostream_printf(out, "ftr record %s%s\n", doctor->pid != 0 ? "-p " : "",
				   report->name);
	cost_print(report, out);
}

/* ---- for programs ---- */

static void module_json(const struct ftr_doctor_module *module, struct ftr_ostream *out)
{
	static const char *const ways[FTR_DOCTOR_WAYS] = {
		[FTR_DOCTOR_HOOKS] = "hooks", [FTR_DOCTOR_PREPARED] = "prepared",
		[FTR_DOCTOR_PLAIN] = "plain", [FTR_DOCTOR_PLAIN_ASKED] = "plain_asked",
		[FTR_DOCTOR_OUTSIDE] = "outside", [FTR_DOCTOR_NONE] = "none",
	};
	char hooks[160];
	struct ftr_json line;

	ftr_json_begin(&line, out, "module");
	ftr_json_text(&line, "path", module->path);
	ftr_json_bool(&line, "is_program", module->is_program);
	if (module->hooks != 0)
		ftr_json_text(&line, "instrumented_by", hooks_text(hooks, module->hooks));
	ftr_json_text(&line, "uses", ways[module->way]);
	ftr_json_u64(&line, "functions", module->functions);
	ftr_json_u64(&line, "seen", module->seen);
	if (module->is_program)
		ftr_json_u64(&line, "libcalls", module->libcalls);
	ftr_json_bool(&line, "has_symbols", module->has_symbols);
	ftr_json_bool(&line, "has_debug_info", module->has_debug_info);
	ftr_json_end(&line);
}

static void report_json(const struct report *report, struct ftr_ostream *out)
{
	const struct ftr_doctor *doctor = report->doctor;
	struct ftr_json line;

	for (size_t i = 0; i < doctor->modules.nr; i++)
		module_json(&doctor->modules.v[i], out);
	for (size_t i = 0; i < doctor->obstacles.nr; i++) {
		ftr_json_begin(&line, out, "obstacle");
		ftr_json_text(&line, "of", ftr_doctor_of_text(doctor->obstacles.v[i].of));
		ftr_json_text(&line, "text", doctor->obstacles.v[i].text);
		ftr_json_end(&line);
	}
	ftr_json_begin(&line, out, "doctor");
	ftr_json_text(&line, "name", report->name);
	if (doctor->pid != 0)
		ftr_json_u64(&line, "pid", (uint64_t)doctor->pid);
	ftr_json_bool(&line, "is_blocked", ftr_doctor_is_blocked(doctor));
	ftr_json_u64(&line, "modules", doctor->modules.nr);
	ftr_json_u64(&line, "obstacles", doctor->obstacles.nr);
	if (report->cost_err.code == 0) {
		ftr_json_double(&line, "call_ns", report->cost.traced_ns);
		ftr_json_double(&line, "call_untraced_ns", report->cost.native_ns);
	}
	ftr_json_end(&line);
}

/* ---- the command ---- */

/* A number is a process, unless a file here has that name. */
static bool is_pid(const char *name, int32_t *pid)
{
	uint64_t number;

	if (ftr_parse_u64(ftr_slice_make(name, strlen(name)), 10, &number) < 0 || number == 0 ||
	    number > INT32_MAX || access(name, F_OK) == 0)
		return false;
	*pid = (int32_t)number;
	return true;
}

static int calls_time(const struct doctor_values *values)
{
	printf("%.3f\n", ftr_call_time(values->calls));
	return fflush(stdout) == 0 ? FTR_EXIT_OK : FTR_EXIT_FAILED;
}

static int report_show(struct report *report, const struct doctor_values *values)
{
	struct ftr_output output;
	int status;

	ftr_call_cost_measure(&report->cost, &report->cost_err);
	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	if (values->json)
		report_json(report, &output.out);
	else
		report_print(report, &output.out);
	status = ftr_output_close(&output);
	if (status == FTR_EXIT_OK && ftr_doctor_is_blocked(report->doctor))
		status = FTR_EXIT_FAILED;
	return status;
}

static int doctor_run(void *arg, int argc, char **argv)
{
	const struct doctor_values *values = arg;
	struct ftr_doctor doctor;
	struct report report = { .doctor = &doctor };
	struct ftr_err err = { 0 };
	int status, ret;
	int32_t pid;

	if (values->calls != 0)
		return calls_time(values);
	if (argc != 1) {
		ftr_error("doctor: name the program or the process: ftr doctor PROGRAM|PID");
		return FTR_EXIT_USAGE;
	}
	ret = is_pid(argv[0], &pid) ? ftr_doctor_process(&doctor, pid, &err) :
				      ftr_doctor_program(&doctor, argv[0], &err);
	if (ret < 0) {
		ftr_error("doctor: %s", err.code != 0 ? err.text : strerror(-ret));
		status = FTR_EXIT_FAILED;
	} else {
		report.name = argv[0];
		status = report_show(&report, values);
	}
	ftr_doctor_fini(&doctor);
	return status;
}

const struct ftr_cmd ftr_cmd_doctor = {
	.name	      = "doctor",
	.usage	      = "[OPTION...] PROGRAM|PID",
	.summary      = "Show how a program can be traced, and what blocks it",
	.options      = doctor_options,
	.values_bytes = sizeof(struct doctor_values),
	.run	      = doctor_run,
};
