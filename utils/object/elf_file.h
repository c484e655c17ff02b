/* SPDX-License-Identifier: MIT */
/* An opened ELF file, for the readers of this room. */
#ifndef FTR_OBJECT_ELF_FILE_H
#define FTR_OBJECT_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

struct ftr_callconv;

#define FTR_BUILD_ID_CHARS 41	/* hex of the first 20 bytes, and a NUL */

struct ftr_elf_file {
	int   fd;
	Elf  *elf;		/* (owned) */
	GElf_Ehdr ehdr;
	uint64_t base;		/* page-aligned address of the first mapping: lowest PT_LOAD */
	char  build_id[FTR_BUILD_ID_CHARS];	/* "" = none */
};

/* -ENOENT, -EACCES ..., -ENOEXEC (not ELF, or damaged) */
int  ftr_elf_file_open(struct ftr_elf_file *file, const char *path, struct ftr_err *err);
void ftr_elf_file_close(struct ftr_elf_file *file);	/* after a failed open too */

/* How its code passes values; NULL: not known. */
const struct ftr_callconv *ftr_elf_file_callconv(const struct ftr_elf_file *file);

/* The section's name, never NULL. */
const char *ftr_elf_section_name(const struct ftr_elf_file *file, const GElf_Shdr *shdr);

/* The first section of this type (or SHT_NULL: any) and name (or NULL: any); NULL = none. */
Elf_Scn *ftr_elf_section_find(const struct ftr_elf_file *file, uint32_t type, const char *name,
			      GElf_Shdr *shdr);

/* Bytes of a section that has some in the file and is not compressed; else NULL. */
Elf_Data *ftr_elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr);

/* The strings that a section with this header links to; NULL = there are none. */
Elf_Data *ftr_elf_section_strings(const struct ftr_elf_file *file, const GElf_Shdr *shdr);

/* A NUL-terminated string of a string section, or NULL when it is not wholly inside. */
const char *ftr_elf_string(const Elf_Data *strings, uint64_t offset);

/* The names of the dynamic symbols, one after another. */
struct ftr_elf_dynamic {
	Elf_Data *symbols, *strings;	/* NULL: there are none */
	int next;
};

void ftr_elf_dynamic_init(struct ftr_elf_dynamic *self, const struct ftr_elf_file *file);
/* The next one's name, which is the file's, and the symbol; NULL = there is no more. */
const char *ftr_elf_dynamic_next(struct ftr_elf_dynamic *self, GElf_Sym *symbol);

#endif /* FTR_OBJECT_ELF_FILE_H */
