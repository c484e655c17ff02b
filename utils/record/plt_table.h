/* SPDX-License-Identifier: MIT */
/* The library-call table of utils/proto/plt.h, made from an ELF file. */
#ifndef FTR_RECORD_PLT_TABLE_H
#define FTR_RECORD_PLT_TABLE_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/proto/plt.h"

struct ftr_plt_table_maker {
	FTR_VEC(struct ftr_plt_slot) slots;
	struct ftr_strbuf strings;
};

/*
 * Are the calls of the library at @path worth hooking?  Not those of the C library, of what it and
 * the unwinder are made of, of sanitizers' runtimes, and of our own.
 */
bool ftr_plt_table_is_wanted(const char *path);

void ftr_plt_table_init(struct ftr_plt_table_maker *maker);
void ftr_plt_table_fini(struct ftr_plt_table_maker *maker);

/*
 * Add the ways out of the file at @path.  A file that cannot be read adds nothing.  0 or -ENOMEM.
 */
int ftr_plt_table_add(struct ftr_plt_table_maker *maker, const char *path);

/*
 * Append the body of FTR_SECTION_LIBCALLS to @body: nothing when there is no way out.  Out of
 * memory is body->failed.
 */
void ftr_plt_table_put(const struct ftr_plt_table_maker *maker, struct ftr_strbuf *body);

#endif /* FTR_RECORD_PLT_TABLE_H */
