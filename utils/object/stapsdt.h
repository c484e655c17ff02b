/* SPDX-License-Identifier: MIT */
/*
 * The events that a file declares: notes of .note.stapsdt, which sys/sdt.h makes of DTRACE_PROBE
 * and the like.  Each says where a no-operation stands, and where the arguments are then.
 */
#ifndef FTR_OBJECT_STAPSDT_H
#define FTR_OBJECT_STAPSDT_H

#include <stdint.h>

#include "utils/base/vec.h"
#include "utils/object/elf_file.h"

/* Texts are borrowed from the file. */
struct ftr_sdt_note {
	uint64_t pc;			/* as in the file */
	uint64_t semaphore;		/* counts who wants to know; 0 = there is none */
	const char *provider, *name;
	const char *args;		/* as the assembler writes operands: "-4@%edi 8@16(%rsp)" */
};

struct ftr_sdt_notes {
	FTR_VEC(struct ftr_sdt_note) v;	/* by pc */
};

/* What is damaged is left out.  0 or -ENOMEM; finish it in any case. */
int  ftr_sdt_notes_load(struct ftr_sdt_notes *notes, const struct ftr_elf_file *file);
void ftr_sdt_notes_fini(struct ftr_sdt_notes *notes);

#endif /* FTR_OBJECT_STAPSDT_H */
