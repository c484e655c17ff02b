/* SPDX-License-Identifier: MIT */
/* The options that give rules, as rows that ftr record and the commands that show calls share. */
#ifndef FTR_CLI_RULES_H
#define FTR_CLI_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/option.h"
#include "utils/trace/rule.h"

struct ftr_filter_opts {
	struct ftr_rule_opts rules;	/* -F -N -C -H -L -T --match */
	uint64_t size_bytes;		/* -Z, 0 = all functions */
	bool starts_off;		/* --trace=off, --disable: until a trace_on */
	bool are_recorders;	/* no option: the same rules were record's (live) */
};

extern const struct ftr_option ftr_filter_options[];

#endif /* FTR_CLI_RULES_H */
