/* SPDX-License-Identifier: MIT */
/* The library-call table of utils/proto/plt.h, made from a program's ELF file. */
#ifndef FTR_RECORD_PLT_TABLE_H
#define FTR_RECORD_PLT_TABLE_H

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/proto/plt.h"

struct ftr_plt_table_maker {
	FTR_VEC(struct ftr_plt_slot) slots;
	struct ftr_strbuf strings;
};

void ftr_plt_table_init(struct ftr_plt_table_maker *maker);
void ftr_plt_table_fini(struct ftr_plt_table_maker *maker);

/*
 * Add the ways out of the file at @path, known to the traced process's dynamic linker as @link_name ("" = the
 * program itself).  A file that cannot be read adds nothing.  0 or -ENOMEM.
 */
int ftr_plt_table_add(struct ftr_plt_table_maker *maker, const char *path, const char *link_name);

/* A sealed memfd that holds the table; -ENODATA when it is empty, else -errno. */
int ftr_plt_table_memfd(const struct ftr_plt_table_maker *maker);

#endif /* FTR_RECORD_PLT_TABLE_H */
