/* SPDX-License-Identifier: MIT */
/* The options of makers of sections, as a command line gives them. */
#ifndef TESTS_UNIT_SECTION_UTIL_H
#define TESTS_UNIT_SECTION_UTIL_H

#include "tests/unit/unit.h"
#include "utils/cli/parse.h"
#include "utils/record/sections.h"

struct section_options {
	struct ftr_option_values given;
};

static const struct ftr_option section_options_rows[] = {
	FTR_OPTION_SETS(ftr_section_options, struct section_options, given), { 0 }
};

/* One option more, with its value (nullable). */
static inline void section_options_add_value(struct section_options *options, const char *option,
					     const char *value)
{
	char *argv[] = { (char *)"test", (char *)option, (char *)value, NULL };
	int argc = value != NULL ? 3 : 2;
	struct ftr_options_outcome outcome;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_options_parse(section_options_rows, options, argc, argv, true,
					   &outcome, &err), argc);
}

static inline void section_options_add(struct section_options *options, const char *option)
{
	section_options_add_value(options, option, NULL);
}

static inline void section_options_fini(struct section_options *options)
{
	ftr_options_fini(section_options_rows, options);
}

#endif /* TESTS_UNIT_SECTION_UTIL_H */
