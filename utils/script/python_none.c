/* SPDX-License-Identifier: MIT */
/* Without libpython: scripts in Python are known, and not run. */
#include "utils/script/script.h"

const struct ftr_script_engine ftr_script_engine_python = {
	.name	= "python",
	.suffix = ".py",
	.needs	= "libpython3-dev",
};
