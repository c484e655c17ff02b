/* SPDX-License-Identifier: MIT */
/* What ftr asks of an ELF file besides its symbols. */
#ifndef FTR_OBJECT_ELF_H
#define FTR_OBJECT_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

/*
 * How a program's functions are instrumented: which of the hook symbols it asks for, or which
 * lists it has of entries that calls can be put into.
 */
enum ftr_elf_hooks {
	FTR_ELF_HOOK_MCOUNT  = 1 << 0,	/* -pg */
	FTR_ELF_HOOK_FENTRY  = 1 << 1,	/* -pg -mfentry */
	FTR_ELF_HOOK_CYGPROF = 1 << 2,	/* -finstrument-functions */
	FTR_ELF_HOOK_PATCHABLE = 1 << 3, /* -fpatchable-function-entry */
	FTR_ELF_HOOK_MCOUNT_LOC = 1 << 4, /* -mrecord-mcount: no calls, with -mnop-mcount */
	FTR_ELF_HOOK_XRAY = 1 << 5,	/* clang's -fxray-instrument */
};
#define FTR_ELF_HOOK_CALLS (FTR_ELF_HOOK_MCOUNT | FTR_ELF_HOOK_FENTRY | FTR_ELF_HOOK_CYGPROF)
#define FTR_ELF_HOOK_SITES (FTR_ELF_HOOK_PATCHABLE | FTR_ELF_HOOK_MCOUNT_LOC | FTR_ELF_HOOK_XRAY)

struct ftr_elf_info {
	uint8_t  elf_class;	/* ELFCLASS32, ELFCLASS64 */
	uint8_t  elf_data;	/* ELFDATA2LSB, ELFDATA2MSB */
	uint16_t machine;	/* EM_* */
	uint16_t type;		/* ET_EXEC, ET_DYN */
	bool     has_interp;	/* false for an executable: static, cannot be preloaded */
	bool     has_symtab;	/* not stripped */
	unsigned hooks;		/* FTR_ELF_HOOK_* */
	char     build_id[41];	/* hex of the first 20 bytes, "" = none */
};

/* -ENOENT, -EACCES, -ENOEXEC (not ELF, or damaged) ... */
int ftr_elf_info_load(struct ftr_elf_info *info, const char *path, struct ftr_err *err);

#endif /* FTR_OBJECT_ELF_H */
