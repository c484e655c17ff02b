/* SPDX-License-Identifier: MIT */
/* Functions of the same name in two traces, each of which numbers its names for itself. */
#include <stdlib.h>

#include "utils/analysis/stats.h"
#include "utils/base/strpool.h"

/* The ids of a new pool count the pairs. */
static struct ftr_stats_pair *pair_get(struct ftr_stats_pair *pairs, struct ftr_strpool *names,
				       const struct ftr_func_stat *stat)
{
	const struct ftr_str *name = ftr_strpool_get(names, stat->name, stat->name_len);
	struct ftr_stats_pair *pair;

	if (name == NULL)
		return NULL;
	pair = &pairs[name->id];
	pair->name = stat->name;
	pair->name_len = stat->name_len;
	return pair;
}

static struct ftr_stats_pair *pairs_make(const struct ftr_func_stat **base, size_t base_nr,
					 const struct ftr_func_stat **other, size_t other_nr,
					 struct ftr_strpool *names)
{
	struct ftr_stats_pair *pairs = calloc(base_nr + other_nr + 1, sizeof(*pairs));

	for (size_t i = 0; pairs != NULL && i < base_nr + other_nr; i++) {
		const struct ftr_func_stat *stat = i < base_nr ? base[i] : other[i - base_nr];
		struct ftr_stats_pair *pair = pair_get(pairs, names, stat);

		if (pair == NULL) {
			free(pairs);
			return NULL;
		}
		if (i < base_nr)
			pair->base = stat;
		else
			pair->other = stat;
	}
	return pairs;
}

struct ftr_stats_pair *ftr_stats_pair_all(const struct ftr_stats *base,
					  const struct ftr_stats *other, size_t *nr)
{
	size_t base_nr, other_nr;
	const struct ftr_func_stat **of_base = ftr_stats_rows(base, &base_nr);
	const struct ftr_func_stat **of_other = ftr_stats_rows(other, &other_nr);
	struct ftr_stats_pair *pairs = NULL;
	struct ftr_strpool names;

	ftr_strpool_init(&names);
	if (of_base != NULL && of_other != NULL)
		pairs = pairs_make(of_base, base_nr, of_other, other_nr, &names);
	*nr = names.nr;
	ftr_strpool_fini(&names);
	free(of_base);
	free(of_other);
	return pairs;
}
