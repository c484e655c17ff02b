/* SPDX-License-Identifier: MIT */
/* Without LuaJIT: scripts in Lua are known, and not run. */
#include "utils/script/script.h"

const struct ftr_script_engine ftr_script_engine_lua = {
	.name	= "lua",
	.suffix = ".lua",
	.needs	= "libluajit-5.1-dev",
};
