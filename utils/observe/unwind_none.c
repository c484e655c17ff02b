/* SPDX-License-Identifier: MIT */
/* Without libunwind there are no stacks. */
#include "utils/observe/unwind.h"

bool ftr_unwind_is_possible(void)
{
	return false;
}

size_t ftr_unwind(struct ftr_space *space, const struct ftr_tracee *tracee, uint64_t *ips,
		  size_t max, uint64_t *unknown)
{
	*unknown = 0;
	return 0;
}

void ftr_unwinder_free(void *unwinder)
{
}
