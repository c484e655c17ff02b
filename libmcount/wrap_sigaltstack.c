/* SPDX-License-Identifier: MIT */
/*
 * sigaltstack: a stack for handlers often lies inside a larger one, in an array of main's say.
 * Calls on it then are not to be taken for calls of the code that the signal interrupted.
 */
#include <errno.h>
#include <signal.h>

#include "libmcount/hook.h"
#include "utils/base/rt/sys.h"

FTR_EXPORT int sigaltstack(const stack_t *new, stack_t *old)
{
	struct ftr_thread *self = &ftr_self;
	long ret = ftr_sys2(SYS_sigaltstack, new, old);

	if (ret < 0) {
		errno = (int)-ret;
		return -1;
	}
	if (new != NULL) {
		self->signal_low = (uintptr_t)new->ss_sp;
		self->signal_bytes = (new->ss_flags & SS_DISABLE) != 0 ? 0 : new->ss_size;
	}
	return 0;
}
