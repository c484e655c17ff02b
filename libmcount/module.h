/* SPDX-License-Identifier: MIT */
/*
 * The modules whose functions are called: the recorder learns of those that came after the start.
 */
#ifndef FTR_LIBMCOUNT_MODULE_H
#define FTR_LIBMCOUNT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/state.h"

struct ftr_mapping;

/* What the recorder finds mapped at the start need not be reported; called by the constructor. */
void ftr_module_start(void) __attribute__((visibility("hidden")));

/*
 * @func is outside the module of this thread's last call, or modules have come or gone since: find
 * its module, report it when it is new, and remember it for the thread.
 */
void ftr_module_check(struct ftr_thread *self, uintptr_t func)
	__attribute__((visibility("hidden")));

/*
 * Look up what is mapped at @address and tell the recorder when that is new to it; *@mapping is
 * filled.  False when nothing is.
 */
bool ftr_module_look(uintptr_t address, struct ftr_mapping *mapping)
	__attribute__((visibility("hidden")));

static inline bool ftr_module_is_known(const struct ftr_thread *self, uintptr_t func)
{
	return func - self->module_low < self->module_bytes &&
	       self->module_generation == atomic_load_explicit(&ftr_state.module_generation,
							       memory_order_relaxed);
}

#endif /* FTR_LIBMCOUNT_MODULE_H */
