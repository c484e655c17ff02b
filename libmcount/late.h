/* SPDX-License-Identifier: MIT */
/*
 * Slots of global offset tables that were changed while the program ran, so that they can be put
 * back (doc/adr/0085).
 */
#ifndef FTR_LIBMCOUNT_LATE_H
#define FTR_LIBMCOUNT_LATE_H

#include <stdbool.h>
#include <stdint.h>

#define FTR_LATE_SLOTS_MAX 65536u

struct ftr_late_slot {
	uintptr_t *slot;
	uintptr_t old, new;
	bool is_kept;
};

/*
 * Make all modules call what is in late.def in our version, where they call libc's; false: there is
 * no memory.  Other threads may be calling it.
 */
bool ftr_late_hook(void) __attribute__((visibility("hidden")));

/* Likewise, the library at @low, which was loaded since.  Under the dynamic linker's lock. */
void ftr_late_hook_library(uintptr_t low) __attribute__((visibility("hidden")));

/* Remember what stood in @slot before @new; false: there is no room, leave it as it is. */
bool ftr_late_note(uintptr_t *slot, uintptr_t new) __attribute__((visibility("hidden")));

/* Forget those that hold something else by now, or are gone.  Under the dynamic linker's lock. */
void ftr_late_forget(void) __attribute__((visibility("hidden")));

/* Put back what has not been changed by others since, in modules that are still there. */
void ftr_late_unhook(void) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_LATE_H */
