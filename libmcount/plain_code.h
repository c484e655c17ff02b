/* SPDX-License-Identifier: MIT */
/*
 * Moved instructions, mapped near the module that they are of: from a memfd that is written first,
 * so no memory is ever both written and run.
 */
#ifndef FTR_LIBMCOUNT_PLAIN_CODE_H
#define FTR_LIBMCOUNT_PLAIN_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/proto/plain.h"

#define FTR_PLAIN_AREAS_MAX 1024

/* What is mapped; that of an unloaded library is used again.  One caller at a time. */
struct ftr_plain_areas {
	uint32_t nr;
	struct ftr_plain_area {
		uint32_t slot;		/* of struct ftr_loaded */
		uint32_t kind;		/* enum ftr_section_kind */
		uintptr_t code;		/* 0: it was given back */
		unsigned long mapped_bytes;
	} v[FTR_PLAIN_AREAS_MAX];
};

/* A module's functions, or what else is patched so, inside its section. */
struct ftr_plain {
	const struct ftr_plain_table *table;
	const struct ftr_plain_write *writes;	/* table->write_nr, the first jump_nr jumps */
	const uint32_t *fixes;			/* table->fix_nr */
	const uint8_t *bytes;			/* table->code_bytes */
	uintptr_t base;
	uint32_t slot;				/* of struct ftr_loaded */
	uint32_t kind;				/* enum ftr_section_kind: that of the section */
	uintptr_t code;				/* where they are mapped */
};

/* Map the code and set plain->code; or find that it is there.  Returns why it cannot be done. */
const char *ftr_plain_code_map(struct ftr_plain *plain) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLAIN_CODE_H */
