/* SPDX-License-Identifier: MIT */
/* ftr completion SHELL: print a completion script. */
#include "cmds/cmd.h"
#include "cmds/output.h"
#include "cmds/message.h"
#include "utils/cli/common.h"
#include "utils/cli/completion.h"

#include <string.h>

#define COMMANDS_MAX 32

static const struct ftr_option completion_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct ftr_common, data),
	{ 0 }
};

static const struct {
	const char *name;
	void (*print)(const struct ftr_completion_command *commands, struct ftr_ostream *out);
} shells[] = {
	{ "bash", ftr_completion_bash },
	{ "zsh", ftr_completion_zsh },
	{ "fish", ftr_completion_fish },
};

static int print_shell(const struct ftr_common *common, size_t shell)
{
	struct ftr_completion_command commands[COMMANDS_MAX + 1] = { 0 };
	struct ftr_common plain = *common;
	const struct ftr_cmd *cmd;
	struct ftr_output output;
	size_t pos = 0;

	for (size_t i = 0; i < COMMANDS_MAX && (cmd = ftr_cmd_next(&pos)) != NULL; i++)
		commands[i] = (struct ftr_completion_command){ cmd->name, cmd->summary,
							       cmd->options,
							       cmd->stops_at_operand };
	plain.no_pager = true;
	if (ftr_output_open(&output, &plain, NULL) < 0)
		return FTR_EXIT_FAILED;
	shells[shell].print(commands, &output.out);
	return ftr_output_close(&output);
}

static int completion_run(void *values, int argc, char **argv)
{
	const char *name = argc == 1 ? argv[0] : "";

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, name) == 0)
			return print_shell(values, i);
	ftr_error("completion: name the shell: bash, zsh or fish");
	return FTR_EXIT_USAGE;
}

const struct ftr_cmd ftr_cmd_completion = {
	.name	      = "completion",
	.usage	      = "bash|zsh|fish",
	.summary      = "Print a shell's completion script",
	.options      = completion_options,
	.values_bytes = sizeof(struct ftr_common),
	.run	      = completion_run,
};
