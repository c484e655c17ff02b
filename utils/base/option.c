/* SPDX-License-Identifier: MIT */
/* Option rows: parsing the values, and walking over tables with groups and sets in them. */
#include "utils/base/option.h"

#include "utils/base/text.h"
#include "utils/base/vec.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int ftr_opt_flag(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	*(bool *)value = true;
	return 0;
}

int ftr_opt_count(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	++*(unsigned *)value;
	return 0;
}

int ftr_opt_string(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	*(const char **)value = arg;
	return 0;
}

int ftr_opt_list(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	struct ftr_opt_list *list = value;
	int ret = opt->check != NULL ? opt->check(arg, err) : 0;

	if (ret < 0)
		return ret;
	if (ftr_vec_push(list, arg) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

int ftr_opt_list_named(const struct ftr_option *opt, void *value, const char *arg,
		       struct ftr_err *err)
{
	struct ftr_opt_list *list = value;
	int ret = opt->check != NULL ? opt->check(arg, err) : 0;

	if (ret < 0)
		return ret;
	if (ftr_vec_push(list, opt->name) < 0 || ftr_vec_push(list, arg) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

static int check_range(const struct ftr_option *opt, uint64_t number, const char *arg,
		       struct ftr_err *err)
{
	if (number < opt->min)
		return ftr_err_set(err, ERANGE, "%s is too small; the minimum is %llu", arg,
				   (unsigned long long)opt->min);
	if (opt->max != 0 && number > opt->max)
		return ftr_err_set(err, ERANGE, "%s is too large; the maximum is %llu", arg,
				   (unsigned long long)opt->max);
	return 0;
}

int ftr_opt_u64(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	uint64_t number;

	if (ftr_parse_u64(ftr_slice_make(arg, strlen(arg)), 10, &number) < 0)
		return ftr_err_set(err, EINVAL, "\"%s\" is not a number", arg);
	*(uint64_t *)value = number;
	return check_range(opt, number, arg, err);
}

int ftr_opt_size(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	uint64_t bytes;

	if (ftr_parse_size(ftr_slice_make(arg, strlen(arg)), &bytes) < 0)
		return ftr_err_set(err, EINVAL, "\"%s\" is not a size like 128K or 4M", arg);
	*(uint64_t *)value = bytes;
	return check_range(opt, bytes, arg, err);
}

int ftr_opt_time(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	uint64_t ns;

	if (ftr_parse_time(ftr_slice_make(arg, strlen(arg)), &ns, NULL) < 0)
		return ftr_err_set(err, EINVAL, "\"%s\" is not a time like 10us or 2ms", arg);
	*(uint64_t *)value = ns;
	return check_range(opt, ns, arg, err);
}

int ftr_opt_choice(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	char known[200] = "";
	size_t len = 0;

	for (int i = 0; opt->words[i] != NULL; i++) {
		if (strcmp(opt->words[i], arg) == 0) {
			*(int *)value = i;
			return 0;
		}
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						i > 0 ? ", " : "", opt->words[i]);
	}
	return ftr_err_set(err, EINVAL, "\"%s\" is not one of: %s", arg, known);
}

int ftr_opt_on_off(const struct ftr_option *opt, void *value, const char *arg, struct ftr_err *err)
{
	static const char *const words[2][6] = {
		{ "off", "no", "false", "n", "0" }, { "on", "yes", "true", "y", "1" },
	};

	for (int is_on = 0; is_on < 2; is_on++) {
		for (int i = 0; words[is_on][i] != NULL; i++) {
			if (strcmp(words[is_on][i], arg) == 0) {
				*(int *)value = is_on;
				return 0;
			}
		}
	}
	return ftr_err_set(err, EINVAL, "\"%s\" is neither on nor off", arg);
}

const char *ftr_option_next_word(const struct ftr_option *opt, size_t *pos)
{
	if (opt->next_word != NULL)
		return opt->next_word(pos);
	return opt->words != NULL && opt->words[*pos] != NULL ? opt->words[(*pos)++] : NULL;
}

/* What the struct of a set takes in ftr_option_values.bytes. */
static size_t set_room(const struct ftr_option_set *set)
{
	const size_t align = _Alignof(max_align_t);

	return (set->values_bytes + align - 1) / align * align;
}

static void iter_push(struct ftr_option_iter *iter, const struct ftr_option *rows, size_t base)
{
	assert(iter->depth < sizeof(iter->levels) / sizeof(iter->levels[0]));
	iter->levels[iter->depth].at = rows;
	iter->levels[iter->depth++].base = base;
}

/* Enter a set with values of its own, in the struct ftr_option_values at @offset. */
static bool iter_push_owned(struct ftr_option_iter *iter, size_t offset)
{
	size_t base = iter->set_bytes, index = iter->set_nr++;

	assert(index < FTR_OPTION_SETS_MAX);
	iter->set_bytes += set_room(&iter->set);
	assert(iter->set_bytes <= FTR_OPTION_SETS_BYTES);
	if (iter->set.options == NULL)
		return false;
	iter->owner = iter->set.owner;
	iter->given_offset = offset + offsetof(struct ftr_option_values, given[index]);
	iter_push(iter, iter->set.options,
		  offset + offsetof(struct ftr_option_values, bytes) + base);
	return true;
}

/* Enter the next set of the row @at, whose values are at @offset; false: none. */
static bool iter_push_set(struct ftr_option_iter *iter, const struct ftr_option *at, size_t offset)
{
	while (at->sets(&iter->set_pos, &iter->set)) {
		if (iter->set.owner != NULL && iter_push_owned(iter, offset))
			return true;
		if (iter->set.owner != NULL || iter->set.options == NULL)
			continue;
		iter_push(iter, iter->set.options, offset);
		return true;
	}
	iter->set_pos = iter->set_nr = iter->set_bytes = 0;
	return false;
}

const struct ftr_option *ftr_option_next(struct ftr_option_iter *iter,
					 const struct ftr_option *table)
{
	if (iter->depth == 0)
		iter_push(iter, table, 0);
	while (iter->depth > 0) {
		const struct ftr_option *row = iter->levels[iter->depth - 1].at;
		size_t base = iter->levels[iter->depth - 1].base;

		if (row->sets != NULL && iter_push_set(iter, row, base + row->offset))
			continue;
		if (row->sets == NULL && row->group == NULL && row->name == NULL) {
			iter->depth--;
			iter->owner = NULL;
			continue;
		}
		iter->levels[iter->depth - 1].at++;
		iter->base = base;
		if (row->name != NULL)
			return row;
		if (row->group != NULL)
			iter_push(iter, row->group, base + row->offset);
	}
	return NULL;
}

const void *ftr_option_values_get(const struct ftr_option_values *values, ftr_option_set_fn *sets,
				  const char *owner)
{
	struct ftr_option_set set;
	size_t pos = 0, at = 0;

	for (; values != NULL && sets(&pos, &set); at += set_room(&set))
		if (strcmp(set.owner, owner) == 0)
			return set.options != NULL ? &values->bytes[at] : NULL;
	return NULL;
}

const void *ftr_option_values_given(const struct ftr_option_values *values,
				    ftr_option_set_fn *sets, const char *owner)
{
	struct ftr_option_set set;
	size_t pos = 0;

	for (size_t i = 0; values != NULL && sets(&pos, &set); i++)
		if (strcmp(set.owner, owner) == 0 && values->given[i] != NULL)
			return ftr_option_values_get(values, sets, owner);
	return NULL;
}

/* Has the member @owner an option of this name, too? */
static bool owner_has(ftr_option_set_fn *sets, const char *owner, const char *name)
{
	struct ftr_option_set set;
	size_t pos = 0;

	while (owner != NULL && sets(&pos, &set)) {
		if (strcmp(set.owner, owner) != 0 || set.options == NULL)
			continue;
		for (const struct ftr_option *row = set.options; row->name != NULL; row++)
			if (strcmp(row->name, name) == 0)
				return true;
	}
	return false;
}

/* "html, svg or pprof": the members that have an option of this name, as far as there is room. */
static void owners_of(ftr_option_set_fn *sets, const char *name, char *text, size_t room)
{
	const char *last = NULL;
	struct ftr_option_set set;
	size_t pos = 0, len = 0;

	text[0] = '\0';
	while (sets(&pos, &set)) {
		if (!owner_has(sets, set.owner, name))
			continue;
		if (last != NULL && len < room)
			len += (size_t)snprintf(text + len, room - len, "%s%s",
						len > 0 ? ", " : "", last);
		last = set.owner;
	}
	if (last != NULL && len < room)
		snprintf(text + len, room - len, "%s%s", len > 0 ? " or " : "", last);
}

int ftr_option_values_check(const struct ftr_option_values *values, ftr_option_set_fn *sets,
			    const char *owner, const char *choose, struct ftr_err *err)
{
	struct ftr_option_set set;
	char owners[300];
	size_t pos = 0;

	for (size_t i = 0; sets(&pos, &set); i++) {
		if (values->given[i] == NULL || owner_has(sets, owner, values->given[i]->name))
			continue;
		owners_of(sets, values->given[i]->name, owners, sizeof(owners));
		return ftr_err_set(err, EINVAL, "--%s requires --%s=%s", values->given[i]->name,
				   choose, owners);
	}
	return 0;
}
