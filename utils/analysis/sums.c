/* SPDX-License-Identifier: MIT */
/* Rows of sums, by name. */
#include "utils/analysis/sums.h"

#include <errno.h>

int ftr_sums_row(struct ftr_sums *sums, struct ftr_strpool *names, struct ftr_slice name,
		 uint32_t *row)
{
	const struct ftr_str *str = ftr_strpool_get(names, name.s, name.len);

	if (str == NULL)
		return -ENOMEM;
	*row = str->id;
	if (str->id < sums->rows.nr)
		return 0;
	return ftr_vec_push(&sums->rows, ((struct ftr_sum){ .name = str->s, .status = -1 }));
}
