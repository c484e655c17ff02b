/* SPDX-License-Identifier: MIT */
/* The table of commands. */
#include "cmds/cmd.h"

#include <string.h>

#define FTR_CMD(name) extern const struct ftr_cmd ftr_cmd_##name;
#include "cmds/commands.def"
#undef FTR_CMD

static const struct ftr_cmd *const commands[] = {
#define FTR_CMD(name) &ftr_cmd_##name,
#include "cmds/commands.def"
#undef FTR_CMD
};

const struct ftr_cmd *ftr_cmd_next(size_t *pos)
{
	return *pos < sizeof(commands) / sizeof(commands[0]) ? commands[(*pos)++] : NULL;
}

const struct ftr_cmd *ftr_cmd_find(const char *name)
{
	const struct ftr_cmd *cmd;
	size_t pos = 0;

	while ((cmd = ftr_cmd_next(&pos)) != NULL)
		if (strcmp(cmd->name, name) == 0)
			return cmd;
	return NULL;
}
