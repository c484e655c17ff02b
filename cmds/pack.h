/* SPDX-License-Identifier: MIT */
/* What ftr pack and ftr unpack share. */
#ifndef FTR_CMDS_PACK_H
#define FTR_CMDS_PACK_H

#include <stdbool.h>

#include "utils/base/option.h"

struct ftr_common;

extern const struct ftr_option ftr_pack_options[];

/* Exit status. */
int ftr_pack_run(const struct ftr_common *common, int argc, char **argv, bool is_packing);

#endif /* FTR_CMDS_PACK_H */
