/* SPDX-License-Identifier: MIT */
/* The switches of all probes: with whatever else the runtime gets about a module. */
#include "utils/record/sections.h"

static int switches_make(const struct ftr_section_module *module, const void *values,
			 struct ftr_strbuf *body)
{
	ftr_strbuf_put(body, module->switches, module->switch_nr * sizeof(module->switches[0]));
	return 0;
}

const struct ftr_section_maker ftr_section_maker_switches = {
	.name = "switches",
	.kind = FTR_SECTION_SWITCHES,
	.make = switches_make,
};
