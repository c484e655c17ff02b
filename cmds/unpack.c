/* SPDX-License-Identifier: MIT */
/* ftr unpack: give back the data directory that was packed, byte for byte. */
#include "cmds/cmd.h"
#include "cmds/pack.h"
#include "utils/cli/common.h"

static int unpack_run(void *values, int argc, char **argv)
{
	return ftr_pack_run(values, argc, argv, false);
}

const struct ftr_cmd ftr_cmd_unpack = {
	.name	      = "unpack",
	.usage	      = "[OPTION...] [DIRECTORY]",
	.summary      = "Give back a data directory as it was before it was packed",
	.options      = ftr_pack_options,
	.values_bytes = sizeof(struct ftr_common),
	.run	      = unpack_run,
};
