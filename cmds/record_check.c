/* SPDX-License-Identifier: MIT */
/* See record_check.h. */
#include "cmds/record_check.h"

#include <errno.h>
#include <string.h>

#include "cmds/cmd.h"
#include "utils/cli/parse.h"
#include "utils/format/format.h"
#include "utils/observe/unwind.h"
#include "utils/record/signals.h"

/* The first format that is a file of observed system calls. */
static const struct ftr_format *observed_format(void)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL && format->observed == NULL)
		;
	return format;
}

/* Was none given of the options that are about functions and the data directory? */
static bool is_of_syscalls(const struct ftr_record_opts *opts)
{
	const struct ftr_cmd *record = ftr_cmd_find("record");
	struct ftr_record_values untouched;
	struct ftr_record_opts same;

	memcpy(&untouched, record->defaults, sizeof(untouched));
	ftr_options_init(record->options, &untouched);	/* collectors have defaults of their own */
	memcpy(&same, opts, sizeof(same));
	same.has_syscalls = false;
	return memcmp(&same, &untouched.record, sizeof(same)) == 0;
}

/* A format that is one file of system calls. */
static int observed_check(const struct ftr_record_values *values, struct ftr_err *err)
{
	const char *name = values->format->name;

	if (!values->record.has_syscalls)
		return ftr_err_set(err, EINVAL, "--format=%s writes system calls; add --syscalls",
				   name);
	if (values->common.data != NULL || values->host != NULL)
		return ftr_err_set(err, EINVAL, "--format=%s writes a file, not a data directory; "
				   "name it with -o", name);
	if (!is_of_syscalls(&values->record))
		return ftr_err_set(err, EINVAL, "--format=%s records system calls only; remove the "
				   "options other than -o and the format's own", name);
	return 0;
}

static int remote_check(const struct ftr_record_values *values, struct ftr_err *err)
{
	if (values->port != NULL && values->host == NULL)
		return ftr_err_set(err, EINVAL, "--port is that of a receiver; name it with "
				   "--host");
	if (values->host != NULL && values->merged != NULL)
		return ftr_err_set(err, EINVAL, "--merge keeps a file with the data here, so it "
				   "excludes --host; show both there (ftr replay DIR FILE)");
	if (values->host != NULL && values->record.summary_seconds != 0)
		return ftr_err_set(err, EINVAL, "--summary writes sums of its own, which a "
				   "receiver does not know, so it excludes --host");
	if (values->host != NULL && values->record.is_packed)
		return ftr_err_set(err, EINVAL, "--pack writes files that a receiver does not "
				   "know, so it excludes --host; pack the data there (ftr pack)");
	return 0;
}

int ftr_record_check(const struct ftr_record_values *values, struct ftr_err *err)
{
	const struct ftr_format *format = values->format;
	int ret = ftr_option_values_check(&values->of_formats, ftr_format_recorded_options,
					  format != NULL ? format->name : NULL, "format", err);

	if (ret == 0)
		ret = remote_check(values, err);
	if (ret < 0)
		return ret;
	if (format != NULL && format->observed != NULL)
		return observed_check(values, err);
	if (values->output != NULL)
		return ftr_err_set(err, EINVAL, "--output requires --format=%s; name a data "
				   "directory with -d", observed_format()->name);
	return 0;
}

int ftr_record_opts_check(const struct ftr_record_opts *opts,
			  const struct ftr_signal_actions *signals, struct ftr_err *err)
{
	if (opts->attach_all && opts->attach_pid == 0)
		return ftr_err_set(err, EINVAL, "--all is about a process that runs; name it with "
				   "-p PID");
	if (opts->attach_no_exec && opts->attach_pid == 0)
		return ftr_err_set(err, EINVAL, "--no-exec is about a process that runs; name it "
				   "with -p PID");
	if (opts->has_stacks && !opts->has_syscalls)
		return ftr_err_set(err, EINVAL, "--stack is about system calls; add --syscalls");
	if (opts->has_stacks && !ftr_unwind_is_possible())
		return ftr_err_set(err, ENOTSUP, "--stack: this ftr was built without libunwind; "
				   "install libunwind-dev and build it again");
	if (opts->has_syscalls && opts->clock != 0)
		return ftr_err_set(err, EINVAL, "--syscalls requires --clock=mono, the clock of "
				   "its time stamps");
	if (opts->has_agent && opts->nop)
		return ftr_err_set(err, EINVAL, "--agent changes what is recorded, and --nop "
				   "records nothing; remove one of them");
	if (opts->flight.bytes == 0 && ftr_signal_actions_have(signals, FTR_SIGNAL_DUMP))
		return ftr_err_set(err, EINVAL, "--signal: a dump needs a flight recorder; add "
				   "--overwrite=SIZE");
	return 0;
}
