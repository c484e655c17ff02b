/* SPDX-License-Identifier: MIT */
/* Symbols that the user has in a directory, of programs that were recorded without. */
#ifndef FTR_TRACE_SYMBOL_DIR_H
#define FTR_TRACE_SYMBOL_DIR_H

struct ftr_diag;
struct ftr_module;
struct ftr_symtab;

/*
 * The symbols of @module by DIR/NAME.sym (uftrace's text) or else DIR/NAME, its file before it was
 * stripped; (owned, finish and free it) NULL where there are none.  Those of another build are
 * warned about, and not used.
 */
struct ftr_symtab *ftr_symbol_dir_load(const char *dir, struct ftr_module *module,
				       struct ftr_diag *diag);

#endif /* FTR_TRACE_SYMBOL_DIR_H */
