/* SPDX-License-Identifier: MIT */
/*
 * How the events in the midst of a module's functions are told (utils/proto/sdt.h): what is written
 * over their no-operations and what follows these, and the code that this leads to.
 */
#ifndef FTR_PATCH_SITES_H
#define FTR_PATCH_SITES_H

#include "utils/object/stapsdt.h"
#include "utils/patch/body.h"
#include "utils/patch/functions.h"
#include "utils/patch/gaps.h"

enum ftr_site_state {
	FTR_SITE_PATCHED,
	FTR_SITE_NO_CODE,	/* there is no no-operation, or its function is not known */
	FTR_SITE_SHORT,		/* no room for a jump */
	FTR_SITE_INTO,		/* something leads into what is moved */
	FTR_SITE_SPECIAL,	/* an instruction whose place matters */
	FTR_SITE_STATES,
};

/* An event to tell. */
struct ftr_site {
	const struct ftr_sdt_note *note;
	uint32_t id;			/* of the event */
	enum ftr_site_state state;
};

struct ftr_sites {
	const struct ftr_symtab *symbols; /* (borrowed) of the file, for operands and messages */
	bool has_entries;		/* entries of the module are patched, and use padding */
	bool has_room_at_entries;	/* ... or there is room for a call, which may be */
	FTR_VEC(struct ftr_site) v;	/* by place */
	struct ftr_functions functions;
	FTR_VEC(struct ftr_code_place) places;
	struct ftr_gaps gaps;
	uint64_t moved_end;		/* of what was moved last */
	struct ftr_patch_body body;
};

/* Plan the patching of @sites->v in @file.  0 or -ENOMEM; finish it in any case. */
int  ftr_sites_plan(struct ftr_sites *sites, const struct ftr_elf_file *file);
void ftr_sites_fini(struct ftr_sites *sites);	/* zeroed is fine */

/* Why events of this state are left, to follow their number; NULL: they are patched. */
const char *ftr_site_state_text(enum ftr_site_state state);

#endif /* FTR_PATCH_SITES_H */
