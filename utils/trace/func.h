/* SPDX-License-Identifier: MIT */
/*
 * A traced function, interned: one struct per (module, symbol) of a trace; id is dense, for arrays.
 */
#ifndef FTR_TRACE_FUNC_H
#define FTR_TRACE_FUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_argspec;
struct ftr_symtab;

#define FTR_KERNEL_PATH \
	"[kernel]" /* of the module whose functions are the kernel's, at their full addresses */

struct ftr_module {
	const char *path;	/* "/usr/bin/prog", FTR_KERNEL_PATH, "" = none */
	const char *name;	/* its last component */
	const char *build_id;	/* hex (nullable) */
	struct ftr_symtab *symtab;	/* (nullable: not loaded yet, or none) */
	uint32_t id;
	bool is_loaded;		/* the loader was asked for symtab */
	bool is_kernel;		/* its path is FTR_KERNEL_PATH */
	bool is_absolute;	/* its symbols are not relative to its first mapping */
	void *loader_data;	/* (owned by the format's reader, nullable) */
};

struct ftr_func {
	const char *name; /* as displayed; never empty: "<5633a1d8d340>" for an unknown address */
	const char *mangled;	/* as in the symbol table */
	const struct ftr_module *module;	/* (nullable) */
	uint64_t addr;		/* start, relative to the module */
	uint32_t size;		/* bytes, 0 = unknown */
	uint32_t id;		/* 0 .. trace->funcs.nr - 1 */
	uint32_t name_id;	/* equal for equal display names: 0 .. trace->names.nr - 1 */
	uint16_t name_len;
	char     symbol_type;	/* as nm(1); P = library call */
	uint8_t  sysid;		/* enum ftr_sysid of the observed call it stands for; 0 = none */
	const char *src_file;	/* (nullable) of its first line */
	uint32_t src_line;
	const struct ftr_argspec *args;		/* (nullable) layout of ENTRY payloads */
	const struct ftr_argspec *retval;	/* (nullable) layout of EXIT payloads */
};

static inline bool ftr_func_is_kernel(const struct ftr_func *func)
{
	return func->module != NULL && func->module->is_kernel;
}

#endif /* FTR_TRACE_FUNC_H */
