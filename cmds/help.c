/* SPDX-License-Identifier: MIT */
/* ftr --help, ftr COMMAND --help, ftr --version. */
#include "cmds/help.h"

#include "arch/arch.h"
#include "cmds/cmd.h"
#include "cmds/output.h"
#include "cmds/tui_screen.h"
#include "cmds/view_serve.h"
#include "utils/cli/common.h"
#include "utils/cli/parse.h"
#include "utils/format/format.h"
#include "utils/script/script.h"

#include <string.h>

static const struct ftr_common plain = { .no_pager = true };

/* The first ones of the manual's pages, of "" for ftr (1). */
static const struct {
	const char *command;
	const char *text;	/* (nullable) */
	const char *lines;
} examples[] = {
#include "cmds/help_examples.inc"
};

static void print_examples(struct ftr_ostream *out, const char *command)
{
	const char *head = "examples:\n", *line;
	size_t i, len;

	for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		if (strcmp(examples[i].command, command) != 0)
			continue;
		ftr_ostream_puts(out, head);
		head = "";
		if (examples[i].text != NULL)
			ftr_ostream_printf(out, "  # %s\n", examples[i].text);
		for (line = examples[i].lines; *line != '\0'; line += len + (line[len] != '\0')) {
			len = strcspn(line, "\n");
			ftr_ostream_printf(out, "  %.*s\n", (int)len, line);
		}
	}
	if (*head == '\0')
		ftr_ostream_putc(out, '\n');
}

int ftr_help_print(void)
{
	const struct ftr_cmd *cmd;
	struct ftr_output output;
	size_t pos = 0;

	if (ftr_output_open(&output, &plain, NULL) < 0)
		return FTR_EXIT_FAILED;
	ftr_ostream_puts(&output.out,
			 "ftr -- function tracer for Linux programs\n\n"
			 "usage: ftr [COMMAND] [OPTION...] [OPERAND...]\n\n");
	print_examples(&output.out, "");
	ftr_ostream_puts(&output.out, "commands:\n");
	while ((cmd = ftr_cmd_next(&pos)) != NULL)
		ftr_ostream_printf(&output.out, "  %-15s %s\n", cmd->name, cmd->summary);
	ftr_ostream_puts(&output.out, "\noptions of every command:\n");
	ftr_options_print_help(ftr_common_options, &output.out);
	ftr_ostream_puts(&output.out, "\n\"ftr COMMAND --help\" lists the options of a command.\n");
	return ftr_output_close(&output);
}

int ftr_help_print_command(const struct ftr_cmd *cmd)
{
	struct ftr_output output;

	if (ftr_output_open(&output, &plain, NULL) < 0)
		return FTR_EXIT_FAILED;
	ftr_ostream_printf(&output.out, "ftr %s -- %s\n\nusage: ftr %s %s\n\n", cmd->name,
			   cmd->summary, cmd->name, cmd->usage);
	print_examples(&output.out, cmd->name);
	ftr_ostream_puts(&output.out, "options:\n");
	ftr_options_print_help(cmd->options, &output.out);
	return ftr_output_close(&output);
}

static void print_formats(struct ftr_ostream *out, const char *head, bool is_reading)
{
	const struct ftr_format *format;
	size_t pos = 0;

	ftr_ostream_puts(out, head);
	while ((format = ftr_format_next(&pos)) != NULL) {
		if (is_reading ? ftr_format_is_read(format) : ftr_format_is_written(format))
			ftr_ostream_printf(out, " %s", format->name);
	}
	ftr_ostream_putc(out, '\n');
}

static void print_engines(struct ftr_ostream *out)
{
	const struct ftr_script_engine *engine;
	size_t pos = 0;

	ftr_ostream_puts(out, "  scripts        ");
	while ((engine = ftr_script_engine_next(&pos)) != NULL) {
		if (engine->needs == NULL)
			ftr_ostream_printf(out, " %s", engine->name);
		else
			ftr_ostream_printf(out, " (no %s: needs %s)", engine->name, engine->needs);
	}
	ftr_ostream_putc(out, '\n');
}

int ftr_version_print(void)
{
	struct ftr_output output;

	if (ftr_output_open(&output, &plain, NULL) < 0)
		return FTR_EXIT_FAILED;
	ftr_ostream_printf(&output.out,
			   "ftr " FTR_VERSION "\n"
			   "  architecture    %s\n"
			   "  built in        libelf libdw libiberty libpcre2 libtraceevent libzstd zlib%s%s\n",
			   ftr_arch_host->name, ftr_tui_screen_library(), ftr_view_serve_library());
	print_engines(&output.out);
	print_formats(&output.out, "  formats, in    ", true);
	print_formats(&output.out, "  formats, out   ", false);
	return ftr_output_close(&output);
}
