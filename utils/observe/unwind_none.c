/* SPDX-License-Identifier: MIT */
/* Without libunwind there are no stacks. */
#include "utils/observe/unwind.h"

bool ftr_unwind_is_possible(void)
{
	return false;
}

bool ftr_unwind_copy_is_possible(void)
{
	return false;
}

size_t ftr_unwind(struct ftr_space *space, const struct ftr_tracee *tracee, uint64_t *ips,
		  size_t max, uint64_t *unknown)
{
	*unknown = 0;
	return 0;
}

bool ftr_unwind_reads_fit(const struct ftr_unwind_read *reads, size_t nr,
			  const struct ftr_stack_copy *copy)
{
	return false;
}

size_t ftr_unwind_copy(struct ftr_space *space, const struct ftr_stack_copy *copy,
		       struct ftr_unwind_reads *reads, uint64_t *ips, size_t max)
{
	return 0;
}

void ftr_unwinder_free(void *unwinder)
{
}
