/* SPDX-License-Identifier: MIT */
/*
 * How the functions of a module that was compiled without room for calls are entered by way of the
 * hook: what is written over their first instructions, and the code that these were moved to
 * (utils/proto/plain.h).
 */
#ifndef FTR_PATCH_ENTRIES_H
#define FTR_PATCH_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/patch/body.h"
#include "utils/patch/functions.h"
#include "utils/patch/gaps.h"

enum ftr_entry_state {
	FTR_ENTRY_UNWANTED,
	FTR_ENTRY_PATCHED,
	FTR_ENTRY_PART,		/* of another function, or may be */
	FTR_ENTRY_START,	/* the compiler's, not the program's */
	FTR_ENTRY_SHORT,	/* no room for a jump, nor near it */
	FTR_ENTRY_LOOP,		/* leads to its own start, which is no call */
	FTR_ENTRY_INTO,		/* something leads into its first instructions */
	FTR_ENTRY_SPECIAL,	/* an instruction whose place matters */
	FTR_ENTRY_UNDECODED,
	FTR_ENTRY_STATES,
};

struct ftr_entries {
	struct ftr_functions functions;
	uint8_t *states;		/* (owned) enum ftr_entry_state of each */
	struct ftr_gaps gaps;		/* behind each */
	struct ftr_patch_body body;
	unsigned counts[FTR_ENTRY_STATES];
};

typedef bool ftr_entry_wanted_fn(void *arg, const struct ftr_function *function);

/*
 * Plan the patching of those functions of @file that @is_wanted names.  @symbols outlive it.  0 or
 * -ENOMEM; finish it in any case.
 */
int  ftr_entries_plan(struct ftr_entries *entries, const struct ftr_elf_file *file,
		      const struct ftr_symtab *symbols, ftr_entry_wanted_fn *is_wanted, void *arg);
void ftr_entries_fini(struct ftr_entries *entries);

/* Why functions of this state are left, to follow their number; NULL: they are patched. */
const char *ftr_entry_state_text(enum ftr_entry_state state);

#endif /* FTR_PATCH_ENTRIES_H */
