/* SPDX-License-Identifier: MIT */
/* Names of threads: the runtime reports them where the kernel does not (probe_name.c). */
#include "utils/record/collector.h"
#include "utils/record/sections.h"

extern const struct ftr_section_maker ftr_section_maker_name;

static uint32_t name_flags(const struct ftr_recording *recording, const void *values)
{
	return recording->reports_names ? FTR_SWITCH_ON : FTR_SWITCH_OFF;
}

static bool name_is_wanted(const struct ftr_section_module *module, const void *values)
{
	return module->is_image && ftr_section_switch(module, ftr_section_maker_name.probe) != 0;
}

const struct ftr_section_maker ftr_section_maker_name = {
	.name	   = "name",
	.probe	   = "name",
	.flags	   = name_flags,
	.is_wanted = name_is_wanted,
};
