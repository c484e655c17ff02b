/* SPDX-License-Identifier: MIT */
/* Rules: the grammar around their actions. */
#include "utils/trace/rule.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/bits.h"
#include "utils/base/closest.h"
#include "utils/base/strbuf.h"
#include "utils/trace/condition.h"
#include "utils/trace/rule_text.h"

#define ACTION_ENDS ",;"

/* One rule while it is read. */
struct reader {
	struct ftr_rule_text text;
	struct ftr_rules *rules;
	struct ftr_rule rule;
	struct ftr_strbuf args, retval;	/* specs, as far as they were read */
	struct ftr_strbuf shown;	/* likewise, what becomes rule.shown */
	unsigned shown_nr;		/* words in it */
	uint32_t word_actions;		/* of the word at hand */
	enum ftr_match match;
	struct ftr_err *err;
};

static int out_of_memory(struct reader *self)
{
	return ftr_err_set(self->err, ENOMEM, "out of memory");
}

static void add_action(struct reader *self, uint32_t bit)
{
	self->rule.actions = ftr_rule_actions_add(self->rule.actions, bit);
	self->word_actions = bit;
}

/* "depht=3" is no module. */
static int refuse_action(struct reader *self, struct ftr_slice name, size_t at)
{
	struct ftr_closest closest = { .distance = 0 };
	char word[24];

	snprintf(word, sizeof(word), "%.*s", (int)name.len, name.s);
	ftr_rule_actions_try(&closest, word);
	return ftr_rule_text_refuse(&self->text, at, self->err, "no action \"%.*s\"%s",
				    (int)name.len, name.s, ftr_closest_ask(&closest, "", ""));
}

/* "depth=3", "trace"; "clear" may have a value. */
static int read_action(struct reader *self, const struct ftr_rule_action_row *action)
{
	bool has_value = ftr_rule_text_take(&self->text, "=");
	struct ftr_rule_value value = { .text = &self->text, .at = self->text.pos };

	value.slice = ftr_rule_text_until(&self->text, ACTION_ENDS);
	if (has_value != (action->read != NULL) && (has_value || action->bit != FTR_RULE_CLEAR))
		return ftr_rule_text_refuse(&self->text, has_value ? value.at - 1 : value.at,
					    self->err, has_value ? "\"%s\" takes no value" :
								   "\"%s\" needs a value: %s=...",
					    action->name, action->name);
	add_action(self, action->bit);
	if (!has_value && action->bit == FTR_RULE_CLEAR)
		self->rule.values.clears = FTR_RULES_CLEARED;
	return has_value ? action->read(&self->rule.values, &value, self->err) : 0;
}

/* What is no module's name, but a spec's that lacks a number. */
static bool lacks_number(struct ftr_slice name)
{
	return ftr_slice_eq(name, "arg") || ftr_slice_eq(name, "fparg");
}

static int read_module(struct reader *self, struct ftr_slice name, size_t at)
{
	if (name.len == 0)
		return ftr_rule_text_refuse(&self->text, at, self->err,
					    "an action or a module is expected here");
	if (memchr(name.s, '@', name.len) != NULL)
		return ftr_rule_text_refuse(&self->text, at, self->err, "\"@\" stands before the "
					    "first action alone; \",\" before the others");
	if (self->rule.kind == FTR_RULE_OF_LOCATION)
		return ftr_rule_text_refuse(&self->text, at, self->err, "no action \"%.*s\"; "
					    "@hide leaves the functions of a source file out",
					    (int)name.len, name.s);
	if (lacks_number(name))
		return ftr_rule_text_refuse(&self->text, at, self->err,
					    "arguments count from 1: %.*s1", (int)name.len, name.s);
	if (self->rule.module != NULL)
		return ftr_rule_text_refuse(&self->text, at, self->err,
					    "a second module, or no action \"%.*s\"", (int)name.len,
					    name.s);
	self->rule.module = ftr_arena_strndup(&self->rules->arena, name.s, name.len);
	return self->rule.module == NULL ? out_of_memory(self) : 0;
}

/* Does a spec of a value stand here: "arg1/i32", "retval"? */
static bool spec_is_next(struct reader *self, struct ftr_strbuf **to)
{
	const char *s = self->text.s + self->text.pos;
	size_t prefix = strncasecmp(s, "fparg", 5) == 0 ? 5 : strncasecmp(s, "arg", 3) == 0 ? 3 : 0;

	*to = prefix > 0 ? &self->args : &self->retval;
	if (prefix > 0)
		return s[prefix] >= '0' && s[prefix] <= '9';
	return strncasecmp(s, "retval", 6) == 0 && strchr(ACTION_ENDS "/%", s[6]) != NULL;
}

static void read_spec(struct reader *self, struct ftr_strbuf *to)
{
	struct ftr_slice spec = ftr_rule_text_until(&self->text, ACTION_ENDS);

	if (to->len > 0)
		ftr_strbuf_putc(to, ',');
	ftr_strbuf_put(to, spec.s, spec.len);
	add_action(self, to == &self->args ? FTR_RULE_ARGUMENT : FTR_RULE_RETVAL);
}

static int read_condition(struct reader *self, size_t at)
{
	int ret;

	if (self->rule.condition != NULL)
		return ftr_rule_text_refuse(&self->text, at, self->err,
					    "a second condition: join them by \"&&\"");
	ret = ftr_condition_parse(&self->rule.condition, &self->text, &self->rules->arena,
				  self->err);
	if (ret == 0 && strchr(ACTION_ENDS, ftr_rule_text_peek(&self->text)) == NULL)
		return ftr_rule_text_refuse(&self->text, self->text.pos, self->err,
					    "the condition ends here; \",\" or \"&&\" is missing");
	return ret;
}

static int read_word(struct reader *self)
{
	size_t at = self->text.pos;
	const struct ftr_rule_action_row *action;
	struct ftr_strbuf *to;
	struct ftr_slice name;

	if (spec_is_next(self, &to)) {
		read_spec(self, to);
		return 0;
	}
	if (ftr_rule_text_take(&self->text, "if:"))
		return read_condition(self, at);
	name = ftr_rule_text_until(&self->text, ACTION_ENDS "=");
	action = ftr_rule_action_find(name);
	if (action != NULL)
		return read_action(self, action);
	if (ftr_rule_text_peek(&self->text) == '=')
		return refuse_action(self, name, at);
	return read_module(self, name, at);
}

/* A rule around its actions. */

static const struct {
	const char *option;
	uint32_t actions;
} kinds[FTR_RULE_KINDS] = {
	[FTR_RULE_OF_FILTER] = { "filter", FTR_RULE_FILTER },
	[FTR_RULE_OF_NOTRACE] = { "notrace", FTR_RULE_NOTRACE },
	[FTR_RULE_OF_CALLER] = { "caller-filter", FTR_RULE_CALLER },
	[FTR_RULE_OF_HIDE] = { "hide", FTR_RULE_HIDE },
	[FTR_RULE_OF_LOCATION] = { "loc-filter", FTR_RULE_LOCATION },
	[FTR_RULE_OF_TRIGGER] = { "trigger", 0 },
	[FTR_RULE_OF_ARGUMENT] = { "argument", 0 },
	[FTR_RULE_OF_RETVAL] = { "retval", 0 },
};

const char *ftr_rule_option(enum ftr_rule_kind kind)
{
	assert(kind < FTR_RULE_KINDS);
	return kinds[kind].option;
}

static int read_pattern(struct reader *self)
{
	size_t at = self->text.pos, wrong = 0;
	struct ftr_slice pattern;
	int ret;

	if (ftr_rule_text_take(&self->text, "!")) {
		if (self->rule.kind != FTR_RULE_OF_FILTER)
			return ftr_rule_text_refuse(&self->text, at, self->err,
						    "\"!\" belongs to --filter alone");
		add_action(self, FTR_RULE_NOTRACE);
		at++;
	}
	pattern = ftr_rule_text_until(&self->text, "@;");
	if (pattern.len == 0)
		return ftr_rule_text_refuse(&self->text, at, self->err,
					    "the name of a function is expected here");
	ret = ftr_pattern_new(&self->rule.pattern, pattern, self->match, &wrong, self->err);
	return ret == -EINVAL ? ftr_rule_text_point(&self->text, at + wrong, self->err) : ret;
}

/* -A and -R without a spec ask for what debug info tells. */
static int finish_values(struct reader *self)
{
	struct ftr_rule *rule = &self->rule;

	if (rule->kind == FTR_RULE_OF_ARGUMENT &&
	    !(rule->actions & (FTR_RULE_RETVAL | FTR_RULE_AUTO_ARGS)))
		rule->actions |= FTR_RULE_ARGUMENT;
	if (rule->kind == FTR_RULE_OF_RETVAL &&
	    !(rule->actions & (FTR_RULE_ARGUMENT | FTR_RULE_AUTO_ARGS)))
		rule->actions |= FTR_RULE_RETVAL;
	if (self->args.failed || self->retval.failed)
		return out_of_memory(self);
	if (self->args.len > 0)
		rule->args = ftr_arena_strdup(&self->rules->arena, self->args.s);
	if (self->retval.len > 0)
		rule->retval = ftr_arena_strdup(&self->rules->arena, self->retval.s);
	return (rule->args == NULL) == (self->args.len == 0) &&
			       (rule->retval == NULL) == (self->retval.len == 0) ?
		       0 : out_of_memory(self);
}

/* A word, which readers of recorded calls need, too, unless only recording has to do with it. */
static int read_next(struct reader *self)
{
	size_t at = self->text.pos;
	int ret;

	self->word_actions = 0;
	ret = read_word(self);
	if (ret < 0 || (self->word_actions & FTR_RULES_RECORDED) != 0)
		return ret;
	ftr_strbuf_putc(&self->shown, self->shown_nr++ == 0 ? '@' : ',');
	ftr_strbuf_put(&self->shown, self->text.s + at, self->text.pos - at);
	return 0;
}

/* What the rule is in words. */
static int finish_texts(struct reader *self, size_t at)
{
	struct ftr_rule *rule = &self->rule;
	struct ftr_arena *arena = &self->rules->arena;
	bool is_shown = (rule->actions & FTR_RULES_SHOWN) != 0;

	rule->text = ftr_arena_strndup(arena, self->text.s + at, self->text.pos - at);
	if (is_shown && !self->shown.failed)
		rule->shown = ftr_arena_strdup(arena, self->shown.s);
	return rule->text == NULL || (is_shown && rule->shown == NULL) ? out_of_memory(self) : 0;
}

static int read_rule(struct reader *self)
{
	size_t at = self->text.pos;
	int ret = read_pattern(self);

	ftr_strbuf_put(&self->shown, self->text.s + at, self->text.pos - at);
	if (ret == 0 && ftr_rule_text_take(&self->text, "@")) {
		do {
			ret = read_next(self);
		} while (ret == 0 && ftr_rule_text_take(&self->text, ","));
	}
	if (ret == 0 && self->rule.kind == FTR_RULE_OF_TRIGGER && self->rule.actions == 0)
		return ftr_rule_text_refuse(&self->text, self->text.pos, self->err,
					    "a trigger needs an action: FUNC@ACTION");
	if (ret == 0 && (self->rule.actions & FTR_RULE_CLEAR) && self->rule.condition != NULL)
		return ftr_rule_text_refuse(&self->text, self->text.pos, self->err,
					    "clear applies to all calls and cannot have a condition");
	if (ret == 0)
		ret = finish_values(self);
	if (ret == 0)
		ret = finish_texts(self, at);
	if (ret == 0 && ftr_vec_push(&self->rules->rules, self->rule) < 0)
		ret = out_of_memory(self);
	return ret;
}

void ftr_rules_remove(struct ftr_rules *rules, size_t first, size_t nr)
{
	assert(first + nr <= rules->rules.nr);
	if (nr == 0)
		return;
	for (size_t i = first; i < first + nr; i++)
		ftr_pattern_free(rules->rules.v[i].pattern);
	rules->rules.nr -= nr;
	memmove(&rules->rules.v[first], &rules->rules.v[first + nr],
		(rules->rules.nr - first) * sizeof(rules->rules.v[0]));
}

int ftr_rules_parse_unnamed(struct ftr_rules *rules, enum ftr_rule_kind kind, const char *text,
			    enum ftr_match match, struct ftr_err *err)
{
	struct reader reader = { .text = { .s = text }, .rules = rules, .match = match,
				 .err = err };
	size_t before = rules->rules.nr;
	int ret = 0;

	assert(kind < FTR_RULE_KINDS);
	ftr_strbuf_init(&reader.args);
	ftr_strbuf_init(&reader.retval);
	ftr_strbuf_init(&reader.shown);
	do {
		reader.rule = (struct ftr_rule){ .kind = kind, .actions = kinds[kind].actions };
		ftr_strbuf_clear(&reader.args);
		ftr_strbuf_clear(&reader.retval);
		ftr_strbuf_clear(&reader.shown);
		reader.shown_nr = 0;
		ret = read_rule(&reader);
	} while (ret == 0 && ftr_rule_text_take(&reader.text, ";") &&
		 ftr_rule_text_peek(&reader.text) != '\0');
	if (ret < 0)
		ftr_pattern_free(reader.rule.pattern);
	if (ret < 0)
		ftr_rules_remove(rules, before, rules->rules.nr - before);
	ftr_strbuf_fini(&reader.args);
	ftr_strbuf_fini(&reader.retval);
	ftr_strbuf_fini(&reader.shown);
	return ret;
}

int ftr_rules_parse(struct ftr_rules *rules, enum ftr_rule_kind kind, const char *text,
		    enum ftr_match match, struct ftr_err *err)
{
	int ret = ftr_rules_parse_unnamed(rules, kind, text, match, err);

	if (ret == -EINVAL)
		(void)ftr_err_prefix(err, "--%s", kinds[kind].option);
	return ret;
}

void ftr_rules_init(struct ftr_rules *rules)
{
	*rules = (struct ftr_rules){ .rules = { 0 } };
	ftr_arena_init(&rules->arena);
}

void ftr_rules_fini(struct ftr_rules *rules)
{
	for (size_t i = 0; i < rules->rules.nr; i++)
		ftr_pattern_free(rules->rules.v[i].pattern);
	ftr_vec_fini(&rules->rules);
	ftr_arena_fini(&rules->arena);
}

uint32_t ftr_rules_actions(const struct ftr_rules *rules)
{
	uint32_t all = 0;

	for (size_t i = 0; i < rules->rules.nr; i++)
		all |= rules->rules.v[i].actions;
	return all;
}

enum ftr_rule_module ftr_rule_module(const struct ftr_rule *rule)
{
	if (rule->module == NULL)
		return FTR_RULE_MODULE_ANY;
	if (strcasecmp(rule->module, "plt") == 0)
		return FTR_RULE_MODULE_PLT;
	if (strcmp(rule->module, "kernel") == 0 || strcmp(rule->module, "k") == 0)
		return FTR_RULE_MODULE_KERNEL;
	return FTR_RULE_MODULE_NAMED;
}

bool ftr_rule_matches_file(const struct ftr_rule *rule, const char *file)
{
	const char *slash = file;

	if (ftr_pattern_matches(rule->pattern, file))
		return true;
	while ((slash = strchr(slash, '/')) != NULL) {
		if (ftr_pattern_matches(rule->pattern, ++slash))
			return true;
	}
	return false;
}

bool ftr_rule_names_module(const struct ftr_rule *rule, const char *path)
{
	assert(rule->module != NULL);
	return strncmp(basename(path), rule->module, strlen(rule->module)) == 0;
}

static enum ftr_rule_kind kind_of(const char *option)
{
	enum ftr_rule_kind kind = 0;

	while (strcmp(kinds[kind].option, option) != 0) {
		kind++;
		assert(kind < FTR_RULE_KINDS);
	}
	return kind;
}

int ftr_rules_parse_opts(struct ftr_rules *rules, const struct ftr_rule_opts *opts,
			 struct ftr_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < opts->given.nr; i += 2)
		ret = ftr_rules_parse(rules, kind_of(opts->given.v[i]), opts->given.v[i + 1],
				      (enum ftr_match)opts->match, err);
	return ret;
}
