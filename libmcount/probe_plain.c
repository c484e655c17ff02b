/* SPDX-License-Identifier: MIT */
/* Functions that were compiled without room for a call (doc/adr/0042). */
#include "libmcount/hook.h"
#include "libmcount/plain_patch.h"

extern const struct ftr_probe ftr_probe_plain FTR_HIDDEN;

static void patch_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	ftr_plain_patch(module, sections, FTR_SECTION_PLAIN, "function");
}

const struct ftr_probe ftr_probe_plain = {
	.name = "plain",
	.module = patch_module,
};
