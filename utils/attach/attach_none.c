/* SPDX-License-Identifier: MIT */
/* Built without libunwind-ptrace, or for a machine whose registers are not known: see attach.h. */
#include "utils/attach/attach.h"

#include <errno.h>

#include "arch/arch.h"

static int refuse(struct ftr_err *err)
{
	if (!ftr_arch_host->can_attach)
		return ftr_err_set(err, ENOTSUP, "ftr does not attach to programs on %s yet; start "
				   "the program by ftr record", ftr_arch_host->title);
	return ftr_err_set(err, ENOTSUP, "ftr was built without libunwind, which attaching needs; "
			   "install libunwind-dev and build it again");
}

bool ftr_attach_is_possible(void)
{
	return false;
}

int ftr_attach_check(int32_t pid, struct ftr_err *err)
{
	return refuse(err);
}

int ftr_attach_may_stop(int32_t pid, struct ftr_err *err)
{
	return refuse(err);
}

int ftr_attach(int32_t pid, const char *runtime, const char *address,
	       struct ftr_attach_report *report, struct ftr_err *err)
{
	return refuse(err);
}

int ftr_attach_leave(int32_t pid, const char *runtime, struct ftr_attach_report *report,
		     struct ftr_err *err)
{
	return refuse(err);
}

int ftr_attach_code(int32_t pid, const struct ftr_attach_codes *codes,
		    struct ftr_attach_report *report, struct ftr_err *err)
{
	return ftr_attach_check(pid, err);
}
