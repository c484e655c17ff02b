/* SPDX-License-Identifier: MIT */
/* ftr COMMAND: find the command in commands.def and run it; without one it is live. */
#include "cmds/cmd.h"
#include "cmds/help.h"
#include "cmds/open.h"
#include "cmds/say.h"
#include "cmds/words.h"
#include "utils/cli/closest.h"
#include "utils/cli/common.h"
#include "utils/format/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_COMMAND "live"

const char *ftr_cmd_data_dir(void)
{
	return strcmp(program_invocation_short_name, "uftrace") == 0 ? "uftrace.data" : "ftr.data";
}

/* The first operand, where it is the trace that --data would name: out of the way of the others. */
static bool is_trace(const struct ftr_cmd *cmd, const struct ftr_common *common, const char *operand)
{
	if (operand == NULL || common->data != NULL)
		return false;
	return cmd->trace == FTR_CMD_TRACE_OPERAND ||
	       (cmd->trace == FTR_CMD_TRACE_FOUND && ftr_trace_is_at(operand));
}

static int run_operands(const struct ftr_cmd *cmd, struct ftr_common *common, int argc, char **argv)
{
	if (is_trace(cmd, common, argv[0])) {
		common->data = argv[0];
		argc--;
		argv++;
	}
	if (cmd->trace != FTR_CMD_TRACE_NONE && argc > (int)cmd->operand_nr) {
		ftr_say_error("%s: one operand too many: %s; the data are %s", cmd->name,
			      argv[cmd->operand_nr], ftr_data_path(common));
		return FTR_EXIT_USAGE;
	}
	return cmd->run(common, argc, argv);
}

static int run_parsed(const struct ftr_cmd *cmd, void *values, int argc, char **argv)
{
	struct ftr_err err = { 0 };
	int outcome, first;

	first = ftr_options_parse(cmd->options, values, argc, argv, cmd->stops_at_operand, &outcome,
				  &err);
	if (first >= 0 && outcome == FTR_OPTIONS_HELP)
		return ftr_help_print_command(cmd);
	if (first >= 0 && outcome == FTR_OPTIONS_VERSION)
		return ftr_version_print();
	if (first >= 0 && ftr_say_init(values, &err) < 0)
		first = -1;
	if (first < 0) {
		ftr_say_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	return run_operands(cmd, values, argc - first, argv + first);
}

static int run_command(const struct ftr_cmd *cmd, int argc, char **argv)
{
	void *values = calloc(1, cmd->values_bytes);
	int status;

	if (values == NULL) {
		ftr_say_error("out of memory");
		return FTR_EXIT_FAILED;
	}
	if (cmd->defaults != NULL)
		memcpy(values, cmd->defaults, cmd->values_bytes);
	status = run_parsed(cmd, values, argc, argv);
	ftr_options_fini(cmd->options, values);
	free(values);
	return status;
}

static int refuse(const char *word)
{
	struct ftr_closest closest = { 0 };
	const struct ftr_cmd *cmd;
	size_t pos = 0;

	while ((cmd = ftr_cmd_next(&pos)) != NULL)
		ftr_closest_try(&closest, word, cmd->name);
	if (closest.name != NULL)
		ftr_say_error("%s is neither a command nor a program; the closest command is %s",
			      word, closest.name);
	else
		ftr_say_error("%s is neither a command nor a program; see ftr --help", word);
	return FTR_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct ftr_cmd *cmd;
	char *word;
	int at;

	at = ftr_words_find_operand(argc, argv);
	if (at < 0)
		return at == FTR_WORDS_VERSION ? ftr_version_print() : ftr_help_print();
	if (at == argc) {
		ftr_say_error("say what to do: ftr COMMAND, or ftr PROGRAM; see ftr --help");
		return FTR_EXIT_USAGE;
	}
	word = argv[at];
	cmd = ftr_cmd_find(word);
	if (cmd != NULL) {		/* ftr -d DIR replay: the command comes first */
		memmove(&argv[2], &argv[1], (size_t)(at - 1) * sizeof(*argv));
		argv[1] = word;
		return run_command(cmd, argc - 1, argv + 1);
	}
	cmd = ftr_cmd_find(DEFAULT_COMMAND);
	if (cmd == NULL || !ftr_words_is_program(word))
		return refuse(word);
	argv[0] = DEFAULT_COMMAND;
	return run_command(cmd, argc, argv);
}
