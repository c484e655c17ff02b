/* SPDX-License-Identifier: MIT */
/* Columns that a user picks with -f. */
#include "utils/view/fields.h"

#include "utils/base/bits.h"
#include "utils/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* " total self call" */
static void put_names(const struct ftr_field_name *table, char *text, size_t room)
{
	size_t len = 0;

	for (int i = 0; table[i].name != NULL && len < room; i++)
		len += (size_t)snprintf(text + len, room - len, " %s", table[i].name);
}

static int report_unknown(const struct ftr_field_name *table, struct ftr_slice name,
			  struct ftr_err *err)
{
	char known[350] = "";

	put_names(table, known, sizeof(known));
	return ftr_err_set(err, EINVAL, "unknown field \"%.*s\"; the fields are:%s all none",
			   (int)name.len, name.s, known);
}

int ftr_fields_refuse_key(const struct ftr_field_name *table, const char *others,
			  struct ftr_slice key, struct ftr_err *err)
{
	char known[350] = "";

	put_names(table, known, sizeof(known));
	return ftr_err_set(err, EINVAL, "unknown sort key \"%.*s\"; the keys are: %s%s",
			   (int)key.len, key.s, others, known);
}

static int add_field(const struct ftr_field_name *table, struct ftr_slice name, uint64_t *mask,
		     struct ftr_err *err)
{
	bool is_all = ftr_slice_eq(name, "all");

	for (int i = 0; table[i].name != NULL; i++) {
		if (is_all)
			*mask |= FTR_BIT64(i);
		if (!ftr_slice_eq(name, table[i].name))
			continue;
		*mask |= FTR_BIT64(i);
		return 0;
	}
	return is_all ? 0 : report_unknown(table, name, err);
}

int ftr_fields_parse(const struct ftr_field_name *table, const char *text, uint64_t *mask,
		     struct ftr_err *err)
{
	struct ftr_slice rest, name;
	int ret = 0;

	if (text == NULL)
		return 0;
	if (*text == '+')
		text++;
	else
		*mask = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	rest = ftr_slice_make(text, strlen(text));
	while (ret == 0 && ftr_slice_split(&rest, ',', &name))
		ret = add_field(table, ftr_slice_trim(name), mask, err);
	return ret;
}
