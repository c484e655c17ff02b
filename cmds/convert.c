/* SPDX-License-Identifier: MIT */
/* ftr convert A B: a trace of any format into another one. */
#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/say.h"
#include "cmds/show.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct convert_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const struct ftr_format *format;	/* NULL: as the name of B says */
};

/* Everything: also events outside of calls, which listings leave out. */
static const struct convert_values convert_defaults = {
	.selection.event_full = true,
};

static bool is_writer(const struct ftr_format *format)
{
	return format != NULL && (format->write != NULL || format->write_new != NULL);
}

static int parse_to(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	const struct ftr_format **chosen = value;

	*chosen = ftr_format_find(arg);
	if (is_writer(*chosen))
		return 0;
	return ftr_err_set(err, EINVAL, "no format to write is called \"%s\"; ftr --version lists them",
			   arg);
}

static const struct ftr_option convert_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct convert_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct convert_values, selection),
	FTR_OPTION("to", 0, "FORMAT", "Write this format, whatever the name of B", parse_to,
		   struct convert_values, format),
	{ 0 }
};

static bool has_suffix(const char *path, const char *suffix)
{
	size_t path_len = strlen(path);
	size_t len = suffix == NULL ? 0 : strlen(suffix);

	return len > 0 && path_len > len && strcmp(path + path_len - len, suffix) == 0;
}

/* By its suffix; what has none is a directory. */
static const struct ftr_format *format_of(const char *path)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		if (is_writer(format) && has_suffix(path, format->suffix))
			return format;
	}
	return strrchr(path, '.') == NULL || has_suffix(path, ".data") || has_suffix(path, "/") ?
	       ftr_format_find("uftrace") : NULL;
}

static int to_file(struct ftr_opened *opened, const struct convert_values *values, const char *path)
{
	struct ftr_common plain = values->common;
	struct ftr_err err = { 0 };
	struct ftr_output output;
	struct ftr_sink *sink;
	int status = FTR_EXIT_FAILED, closed;

	plain.no_pager = true;
	if (ftr_output_open(&output, &plain, path) < 0)
		return FTR_EXIT_FAILED;
	sink = ftr_sink_new(values->format->write, &output.out, &err);
	if (sink == NULL)
		ftr_say_error("out of memory");
	else
		status = ftr_show(opened, sink, &output, true);
	closed = ftr_output_close(&output);
	return output.is_quiet_end ? FTR_EXIT_OK : status != FTR_EXIT_OK ? status : closed;
}

static int to_directory(struct ftr_opened *opened, const struct convert_values *values,
			const char *path)
{
	struct ftr_err err = { 0 };
	struct ftr_sink *sink = values->format->write_new(path, &err);

	if (sink == NULL) {
		ftr_say_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	return ftr_show(opened, sink, NULL, true);
}

static int convert_run(void *values, int argc, char **argv)
{
	struct convert_values *self = values;
	struct ftr_opened opened;
	int status;

	if (argc != 2) {
		ftr_say_error("convert: needs two operands: the trace to read and the one to write");
		return FTR_EXIT_USAGE;
	}
	if (self->format == NULL)
		self->format = format_of(argv[1]);
	if (self->format == NULL) {
		ftr_say_error("convert: %s: its name says no format: use --to=FORMAT", argv[1]);
		return FTR_EXIT_USAGE;
	}
	self->common.data = argv[0];
	status = ftr_opened_open(&opened, &self->common, &self->selection, false);
	if (status != FTR_EXIT_OK)
		return status;
	if (self->format->kind == FTR_FORMAT_FILE)
		status = to_file(&opened, self, argv[1]);
	else
		status = to_directory(&opened, self, argv[1]);
	ftr_opened_close(&opened);
	return status;
}

const struct ftr_cmd ftr_cmd_convert = {
	.name	      = "convert",
	.usage	      = "[OPTION...] A B",
	.summary      = "Write trace A as B, in the format that B's name says",
	.options      = convert_options,
	.values_bytes = sizeof(struct convert_values),
	.defaults     = &convert_defaults,
	.run	      = convert_run,
};
