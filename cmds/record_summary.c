/* SPDX-License-Identifier: MIT */
/* See record_summary.h. */
#include "cmds/record_summary.h"

#include <errno.h>
#include <string.h>

#include "utils/proto/control.h"
#include "utils/record/collector.h"
#include "utils/record/sections.h"
#include "utils/trace/rule.h"

#define VALUE_ACTIONS (FTR_RULE_ARGUMENT | FTR_RULE_RETVAL | FTR_RULE_AUTO_ARGS | FTR_RULE_READ)

/* The first option given of these sets' owners, or of any when @owner is NULL; NULL = none. */
static const char *given_of(const struct ftr_option_values *values, ftr_option_set_fn *sets,
			    const char *owner)
{
	struct ftr_option_set set;
	size_t pos = 0;

	for (size_t i = 0; sets(&pos, &set); i++) {
		if (values->given[i] != NULL && (owner == NULL || strcmp(set.owner, owner) == 0))
			return values->given[i]->name;
	}
	return NULL;
}

/* What records more than calls, or has calls kept. */
static const char *excluded(const struct ftr_record_opts *opts,
			    const struct ftr_record_choice *choice)
{
	const char *name = given_of(&opts->of_collectors, ftr_collector_options, NULL);

	if (name != NULL)
		return name;
	if (opts->flight.bytes != 0)
		return "overwrite";
	if (opts->on_full == FTR_ON_FULL_OVERWRITE)
		return "on-full=overwrite";
	if (opts->has_syscalls)
		return "syscalls";
	if (opts->is_packed)
		return "pack";
	if (opts->script != NULL)
		return "script";
	if (opts->nop)
		return "nop";
	if (choice->watched.nr != 0)
		return "watch";
	return given_of(&opts->of_sections, ftr_section_options, "interposed");
}

int ftr_record_summary_check(const struct ftr_record_opts *opts,
			     const struct ftr_record_choice *choice,
			     const struct ftr_strbuf *deferred, struct ftr_err *err)
{
	const char *name = excluded(opts, choice);

	if (opts->summary_seconds == 0)
		return 0;
	if (name != NULL)
		return ftr_err_set(err, EINVAL, "--summary and top keep nothing but sums of calls, "
				   "which excludes --%s", name);
	if (choice->auto_args || (ftr_rules_actions(choice->rules) & VALUE_ACTIONS) != 0)
		return ftr_err_set(err, EINVAL, "--summary and top keep nothing but sums of calls, "
				   "which excludes values of arguments (-A, -R, -a, read)");
	if (deferred->len != 0)
		return ftr_err_set(err, EINVAL, "--summary keeps no calls, but this is decided "
				   "when calls are shown: %s", ftr_strbuf_str(deferred));
	return 0;
}
