/* SPDX-License-Identifier: MIT */
/* The kernel's functions: the file kallsyms, by address. */
#include <assert.h>

#include "utils/format/uftrace/read_kernel.h"
#include "utils/object/symtab.h"
#include "utils/trace/library.h"

#define SYMBOL_FILE "kallsyms"

int uft_kallsyms_load(struct uft_reader *reader, struct ftr_symtab *symtab)
{
	struct ftr_diag *diag = reader->trace->diag;
	struct ftr_err err = { 0 };
	struct ftr_istream in;
	int ret = ftr_dir_file(reader->dir, SYMBOL_FILE, &in, &err);

	if (ret < 0) {
		ftr_diag_warn(diag, "%s: kernel functions are shown as addresses", err.text);
		return ret;
	}
	ftr_symtab_init(symtab);
	ret = ftr_symtab_load_text(symtab, &in, diag, &err);
	ftr_istream_close(&in);
	if (ret < 0) {
		ftr_diag_warn(diag, "%s", err.text);
		ftr_symtab_fini(symtab);
	} else if (symtab->nr == 0) {
		ftr_diag_warn(diag, SYMBOL_FILE
			      ": no address in it, as from a kernel that hides them: kernel "
			      "functions are shown as addresses");
	}
	return ret;
}

const char *uft_kernel_symbol(struct uft_kernel *kernel, uint64_t *addr)
{
	const struct ftr_symbol *symbol = NULL;

	ftr_trace_module_load(kernel->trace, kernel->module);
	if (kernel->module->symtab != NULL)
		symbol = ftr_symtab_find(kernel->module->symtab, *addr);
	if (symbol == NULL)
		return NULL;
	*addr = symbol->addr;
	return symbol->name;
}

const struct ftr_func *uft_kernel_func(struct uft_kernel *kernel, uint64_t addr)
{
	uint64_t hash = addr * UINT64_C(0x9e3779b97f4a7c15);
	const struct ftr_func *func;
	size_t at = hash >> 54;

	static_assert(UFT_KERNEL_SLOTS == 1 << (64 - 54),
		      "the hash has as many bits as there are slots");
	if (kernel->slots[at].func != NULL && kernel->slots[at].addr == addr)
		return kernel->slots[at].func;
	func = ftr_trace_resolve_module(kernel->trace, kernel->module, addr, 'K');
	kernel->slots[at].addr = addr;
	kernel->slots[at].func = func;
	return func;
}
