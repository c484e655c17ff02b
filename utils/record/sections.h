/* SPDX-License-Identifier: MIT */
/* The memfd of sections that the runtime gets about a module (utils/proto/sections.h). */
#ifndef FTR_RECORD_SECTIONS_H
#define FTR_RECORD_SECTIONS_H

#include <stddef.h>

#include "utils/proto/sections.h"

/* One section to be. */
struct ftr_sections_part {
	enum ftr_section_kind kind;
	const void *bytes;		/* (borrowed) */
	size_t len;			/* 0: the section is left out */
};

/*
 * A sealed memfd of @nr parts, of @generation of the control block.  Returns the descriptor (owned
 * by the caller) or -errno.
 */
int ftr_sections_memfd(const struct ftr_sections_part *parts, unsigned nr, uint32_t generation);

#endif /* FTR_RECORD_SECTIONS_H */
