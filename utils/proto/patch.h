/* SPDX-License-Identifier: MIT */
/*
 * The body of FTR_SECTION_PATCH: where the compiler left room at the entries of a module's
 * functions, for a call of the hook.  The recorder reads it from the ELF file and leaves out what
 * is not to be recorded.
 *
 *	[ struct ftr_patch_table ][ struct ftr_patch_site, site_nr times, by ascending offset ]
 */
#ifndef FTR_PROTO_PATCH_H
#define FTR_PROTO_PATCH_H

#include <assert.h>
#include <stdint.h>

enum ftr_patch_kind {
	FTR_PATCH_ENTRY = 1,		/* before the prologue: as __fentry__ is called */
	FTR_PATCH_PROLOGUE = 2,		/* after it: as mcount is called */
};

enum ftr_patch_flag {
	/* its _init calls __gmon_start__, so that the runtime sees it before its code runs */
	FTR_PATCH_STARTS_GMON = 1 << 0,
	/* which functions are patched may change (ftr ctl): all that can be are listed */
	FTR_PATCH_MAY_CHANGE = 1 << 1,
};

struct ftr_patch_site {
	uint32_t offset;		/* from base */
	uint8_t	 bytes;			/* that hold no-operations now */
	uint8_t	 kind;			/* enum ftr_patch_kind */
	uint16_t is_later;		/* not patched now: FTR_PATCH_MAY_CHANGE */
};
static_assert(sizeof(struct ftr_patch_site) == 8, "wire layout");

struct ftr_patch_table {
	uint64_t base;			/* relative to the module's load address */
	uint32_t site_nr;
	uint32_t flags;			/* FTR_PATCH_* flags */
};
static_assert(sizeof(struct ftr_patch_table) == 16, "sites stay aligned");

#endif /* FTR_PROTO_PATCH_H */
