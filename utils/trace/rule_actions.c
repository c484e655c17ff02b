/* SPDX-License-Identifier: MIT */
/* Actions of rules: how their values are read, and what two rules ask for together. */
#include "utils/trace/rule_actions.h"

#include <ctype.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/trace/rule.h"
#include "utils/trace/rule_text.h"

/* Values. */

static int refuse(const struct ftr_rule_value *value, struct ftr_err *err, const char *what)
{
	return ftr_rule_text_refuse(value->text, value->at, err, "\"%.*s\" is not %s",
				    (int)value->slice.len, value->slice.s, what);
}

static int read_depth(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		      struct ftr_err *err)
{
	uint64_t depth;

	if (ftr_parse_u64(value->slice, 10, &depth) < 0 || depth == 0 || depth > UINT32_MAX)
		return refuse(value, err, "a depth from 1 on");
	values->depth = (uint32_t)depth;
	return 0;
}

static int read_time(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		     struct ftr_err *err)
{
	if (ftr_parse_time(value->slice, &values->time_ns, NULL) < 0)
		return refuse(value, err, "a time like 10us");
	return 0;
}

static int read_size(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		     struct ftr_err *err)
{
	if (ftr_parse_size(value->slice, &values->size_bytes) < 0)
		return refuse(value, err, "a size in bytes");
	return 0;
}

static int read_color(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		      struct ftr_err *err)
{
	static const struct {
		const char *name;
		char color;
	} colors[] = {
		{ "red", 'r' }, { "green", 'g' }, { "blue", 'b' }, { "yellow", 'y' },
		{ "magenta", 'm' }, { "cyan", 'c' }, { "bold", 'B' }, { "gray", 'w' },
	};

	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (ftr_slice_eq(value->slice, colors[i].name)) {
			values->color = colors[i].color;
			return 0;
		}
	}
	return refuse(value, err,
		      "a colour: red, green, blue, yellow, magenta, cyan, bold, gray");
}

static int read_read(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		     struct ftr_err *err)
{
	static const char *const names[] = {
		"proc/statm", "page-fault", "pmu-cycle", "pmu-cache", "pmu-branch", "errno"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ftr_slice_eq(value->slice, names[i])) {
			values->reads |= FTR_BIT(i);
			return 0;
		}
	}
	return refuse(value, err,
		      "one of: proc/statm, page-fault, pmu-cycle, pmu-cache, pmu-branch, errno");
}

static int read_sample(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		       struct ftr_err *err)
{
	if (ftr_parse_u64(value->slice, 10, &values->sample_nr) < 0 || values->sample_nr == 0)
		return refuse(value, err, "a number of calls from 1 on");
	return 0;
}

/* "100/s" */
static int read_rate(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		     struct ftr_err *err)
{
	struct ftr_slice number = value->slice;

	if (number.len < 3 || memcmp(number.s + number.len - 2, "/s", 2) != 0)
		return refuse(value, err, "a rate like 100/s");
	number.len -= 2;
	if (ftr_parse_u64(number, 10, &values->rate_per_s) < 0 || values->rate_per_s == 0)
		return refuse(value, err, "a rate like 100/s");
	return 0;
}

/* "filter+depth" */
static int read_clear(struct ftr_rule_values *values, const struct ftr_rule_value *value,
		      struct ftr_err *err)
{
	struct ftr_slice left = value->slice;

	for (;;) {
		const char *plus = memchr(left.s, '+', left.len);
		size_t len = plus != NULL ? (size_t)(plus - left.s) : left.len;
		const struct ftr_rule_value one = {
			.slice = ftr_slice_make(left.s, len), .text = value->text,
			.at = value->at + (size_t)(left.s - value->slice.s),
		};
		const struct ftr_rule_action_row *row = ftr_rule_action_find(one.slice);

		if (row == NULL || (row->bit & FTR_RULES_CLEARED) == 0)
			return refuse(&one, err, "an action that can be cleared");
		values->clears |= row->bit;
		if (plus == NULL)
			return 0;
		left = ftr_slice_make(plus + 1, left.len - len - 1);
	}
}

/* Rows. */

static const struct ftr_rule_action_row rows[] = {
#define FTR_RULE_ACTION(id, name, read, flag, in) { name, FTR_RULE_##id, read },
#define FTR_RULE_IMPLIED(id, name, in)
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
};

static const struct ftr_rule_action_row implied[] = {
#define FTR_RULE_ACTION(id, name, read, flag, in)
#define FTR_RULE_IMPLIED(id, name, in) { name, FTR_RULE_##id, NULL },
#include "utils/trace/rule_actions.def"
#undef FTR_RULE_ACTION
#undef FTR_RULE_IMPLIED
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))
#define IMPLIED (sizeof(implied) / sizeof(implied[0]))

/* "trace_on", "traceon", "Trace-On" */
static bool is_spelling(const char *name, struct ftr_slice word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (strchr("-_", word.s[i]) != NULL)
			continue;
		name += strspn(name, "-_");
		if (tolower((unsigned char)word.s[i]) != *name)
			return false;
		name++;
	}
	return *name == '\0' && word.len > 0;
}

const struct ftr_rule_action_row *ftr_rule_action_find(struct ftr_slice name)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (is_spelling(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

void ftr_rule_actions_try(struct ftr_closest *closest, const char *word)
{
	for (size_t i = 0; i < ROWS; i++)
		ftr_closest_try(closest, word, rows[i].name);
}

const char *ftr_rule_action_name(uint32_t actions)
{
	for (size_t i = 0; i < ROWS; i++) {
		if ((actions & rows[i].bit) != 0)
			return rows[i].name;
	}
	for (size_t i = 0; i < IMPLIED; i++) {
		if ((actions & implied[i].bit) != 0)
			return implied[i].name;
	}
	return "";
}

/* Together. */

uint32_t ftr_rule_actions_add(uint32_t before, uint32_t later)
{
	static const uint32_t pairs[] = {
		FTR_RULE_FILTER | FTR_RULE_NOTRACE,
		FTR_RULE_TRACE_ON | FTR_RULE_TRACE_OFF,
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if ((later & pairs[i]) != 0)
			before &= ~pairs[i];
	}
	return before | later;
}

uint32_t ftr_rule_join(uint32_t before, struct ftr_rule_values *values,
		       const struct ftr_rule *later)
{
	const struct ftr_rule_values *more = &later->values;
	uint32_t actions = later->actions;

	if ((actions & FTR_RULE_CLEAR) != 0)
		before &= ~more->clears;
	if ((before & FTR_RULE_READ) == 0)
		values->reads = 0;
	values->depth = (actions & FTR_RULE_DEPTH) != 0 ? more->depth : values->depth;
	values->time_ns = (actions & FTR_RULE_TIME) != 0 ? more->time_ns : values->time_ns;
	values->size_bytes = (actions & FTR_RULE_SIZE) != 0 ? more->size_bytes : values->size_bytes;
	values->sample_nr = (actions & FTR_RULE_SAMPLE) != 0 ? more->sample_nr : values->sample_nr;
	values->rate_per_s = (actions & FTR_RULE_RATE) != 0 ? more->rate_per_s : values->rate_per_s;
	values->color = (actions & FTR_RULE_COLOR) != 0 ? more->color : values->color;
	values->reads |= (actions & FTR_RULE_READ) != 0 ? more->reads : 0;
	return ftr_rule_actions_add(before, actions & ~(uint32_t)FTR_RULE_CLEAR);
}
