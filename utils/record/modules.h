/* SPDX-License-Identifier: MIT */
/*
 * The ELF files mapped in traced processes: each is looked at once, and the symbols of those that
 * are instrumented are written; of large files by a helper process, so that no task is delayed.
 */
#ifndef FTR_RECORD_MODULES_H
#define FTR_RECORD_MODULES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"
#include "utils/object/elf.h"

struct ftr_module_file {
	char *path;			/* (owned) */
	struct ftr_elf_info elf;
	uint64_t size_bytes;
	bool is_readable;		/* elf is filled */
	bool is_wanted;			/* its symbols are needed */
	bool is_stored;			/* and have been given to a helper */
	bool has_plt;			/* plt_fd has been made, or there is nothing to put in it */
	int  plt_fd;			/* (owned) its library-call table, or -1 */
};

struct ftr_modules {
	FTR_VEC(struct ftr_module_file *) files;	/* (owned) */
	FTR_VEC(pid_t) helpers;		/* still at work */
};

/* The file of @path, looked at once; NULL when out of memory.  (borrowed) for good. */
const struct ftr_module_file *ftr_modules_get(struct ftr_modules *modules, const char *path);

/* The library-call table of the file at @path, made once; (borrowed) -1 = none. */
int ftr_modules_plt_fd(struct ftr_modules *modules, const char *path);

/*
 * Look at the file of @path unless that was done before.  @is_wanted: its symbols are needed even
 * if it is not instrumented.  Returns its build-id in hex, "" = none; (borrowed) for good.
 */
const char *ftr_modules_add(struct ftr_modules *modules, const char *path, bool is_wanted);

/* Write the symbols of wanted files that was not done for yet, or start a helper for it. */
void ftr_modules_store(struct ftr_modules *modules, struct ftr_uftrace_dir *dir);

/* Wait for the helpers, and release. */
void ftr_modules_fini(struct ftr_modules *modules);

#endif /* FTR_RECORD_MODULES_H */
