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

/* One option more. */
static inline void section_options_add(struct section_options *options, const char *option)
{
	static const struct ftr_option rows[] = {
		FTR_OPTION_SETS(ftr_section_options, struct section_options, given), { 0 }
	};
	char *argv[] = { (char *)"test", (char *)option, NULL };
	struct ftr_options_outcome outcome;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_options_parse(rows, options, 2, argv, true, &outcome, &err), 2);
}

#endif /* TESTS_UNIT_SECTION_UTIL_H */
