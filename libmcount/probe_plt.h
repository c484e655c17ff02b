/* SPDX-License-Identifier: MIT */
/* Library calls, seen at the global offset tables they go through. */
#ifndef FTR_LIBMCOUNT_PROBE_PLT_H
#define FTR_LIBMCOUNT_PROBE_PLT_H

#include <stdint.h>

/*
 * Where the calls of a module are hooked.  Zero at first; stubs that an unloaded module had here
 * are used again if they suffice.
 */
struct ftr_plt_hooked {
	uintptr_t *got;			/* one of the entries; NULL = there are none */
	uintptr_t stub;			/* what that holds while the module is hooked */
	uint32_t first, nr;		/* its stubs; some may be unused */
};

/* A call that is not like others (FTR_PLT_* flags). */
struct ftr_plt_call;
void ftr_plt_enter_special(const struct ftr_plt_call *call, uintptr_t *slot)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PROBE_PLT_H */
