/* SPDX-License-Identifier: MIT */
/* The switches of all probes: with whatever else the runtime gets about a module. */
#include <string.h>

#include "utils/record/sections.h"

/* Of the probe as this module gets it: its maker may see no use for it there. */
static uint32_t switch_value(const struct ftr_section_module *module, const struct ftr_switch *one)
{
	const struct ftr_section_maker *maker;
	size_t pos = 0;

	while ((maker = ftr_section_maker_next(&pos)) != NULL) {
		if (maker->narrow != NULL &&
		    strncmp(one->name, maker->probe, FTR_SWITCH_NAME_BYTES) == 0)
			return maker->narrow(module, ftr_section_values(module->given, maker),
					     one->value);
	}
	return one->value;
}

static int switches_make(const struct ftr_section_module *module, const void *values,
			 struct ftr_strbuf *body)
{
	for (size_t i = 0; i < module->switch_nr; i++) {
		struct ftr_switch one = module->switches[i];

		one.value = switch_value(module, &one);
		ftr_strbuf_put(body, &one, sizeof(one));
	}
	return 0;
}

const struct ftr_section_maker ftr_section_maker_switches = {
	.name = "switches",
	.kind = FTR_SECTION_SWITCHES,
	.make = switches_make,
};
