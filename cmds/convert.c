/* SPDX-License-Identifier: MIT */
/* ftr convert A B: a trace of any format into another one. */
#include "cmds/cmd.h"
#include "cmds/export.h"
#include "cmds/open.h"
#include "cmds/message.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

#include <string.h>

struct convert_values {
	struct ftr_common common;
	struct ftr_selection selection;
	const struct ftr_format *format;	/* NULL: by B's suffix */
	struct ftr_option_values of_formats;
};

/* As dump: also what is outside of calls. */
static const struct convert_values convert_defaults = {
	.selection.event_full = true,
	.selection.kernel_full = true,
};

static const struct ftr_option convert_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct convert_values, common),
	FTR_OPTION_GROUP(ftr_selection_options, struct convert_values, selection),
	FTR_OPTION_GROUP(ftr_filter_options, struct convert_values, selection.filter),
	FTR_OPTION("to", 0, "FORMAT", "Write this format, whatever B's suffix", ftr_opt_format,
		   struct convert_values, format, .next_word = ftr_format_next_written),
	FTR_OPTION_SETS(ftr_format_written_options, struct convert_values, of_formats),
	{ 0 }
};

static bool has_suffix(const char *path, const char *suffix)
{
	size_t path_len = strlen(path);
	size_t len = suffix == NULL ? 0 : strlen(suffix);

	return len > 0 && path_len > len && strcmp(path + path_len - len, suffix) == 0;
}

static const struct ftr_format *directory_format(void)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL &&
	       (format->kind != FTR_FORMAT_DIRECTORY || !ftr_format_is_written(format)))
		;
	return format;
}

/* The longest suffix counts: ".speedscope.json" before ".json". */
static const struct ftr_format *format_of_suffix(const char *path)
{
	const struct ftr_format *format, *best = NULL;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		if (ftr_format_is_written(format) && has_suffix(path, format->suffix) &&
		    (best == NULL || strlen(format->suffix) > strlen(best->suffix)))
			best = format;
	}
	return best;
}

/* By its suffix; without one it is a directory. */
static const struct ftr_format *format_of(const char *path)
{
	const struct ftr_format *format = format_of_suffix(path);

	if (format != NULL)
		return format;
	if (strcmp(path, "-") == 0)
		return NULL;
	if (strchr(basename(path), '.') == NULL || has_suffix(path, ".data") ||
	    has_suffix(path, "/"))
		return directory_format();
	return NULL;
}

static int convert(const struct convert_values *values, const char *path)
{
	const struct ftr_export to = {
		.common = &values->common, .format = values->format, .path = path,
		/* Without options nothing is left out. */
		.values = ftr_option_values_given(&values->of_formats, ftr_format_written_options,
						  values->format->name),
	};
	struct ftr_opened opened;
	int status = ftr_opened_open(&opened, &values->common, &values->selection, FTR_ORDER_TIME);

	if (status != FTR_EXIT_OK)
		return status;
	status = ftr_export(&opened, &to);
	ftr_opened_close(&opened);
	return status;
}

static int convert_run(void *values, int argc, char **argv)
{
	struct convert_values *self = values;
	const char *path = argv[0];
	struct ftr_err err = { 0 };

	if (path == NULL) {
		ftr_error(
			"convert: needs two operands: the trace to read and the one to write");
		return FTR_EXIT_USAGE;
	}
	if (self->format == NULL)
		self->format = format_of(path);
	if (self->format == NULL) {
		ftr_error("convert: %s: no format has this suffix; choose one with --to=FORMAT", path);
		return FTR_EXIT_USAGE;
	}
	if (ftr_option_values_check(&self->of_formats, ftr_format_written_options,
				    self->format->name, "to", &err) < 0) {
		ftr_error("convert: %s", err.text);
		return FTR_EXIT_USAGE;
	}
	return convert(self, path);
}

const struct ftr_cmd ftr_cmd_convert = {
	.name	      = "convert",
	.usage	      = "[OPTION...] A B",
	.summary      = "Convert trace A to B, in the format of B's suffix",
	.options      = convert_options,
	.trace	      = FTR_CMD_TRACE_OPERAND,
	.operand_nr   = 1,
	.writes	      = true,
	.values_bytes = sizeof(struct convert_values),
	.defaults     = &convert_defaults,
	.run	      = convert_run,
};
