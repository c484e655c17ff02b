/* SPDX-License-Identifier: MIT */
/* Library calls, seen at the global offset tables they go through. */
#ifndef FTR_LIBMCOUNT_PROBE_PLT_H
#define FTR_LIBMCOUNT_PROBE_PLT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A loaded module. */
struct ftr_plt_module {
	uintptr_t base;			/* load address */
	uintptr_t relro, relro_end;	/* must be made writable for a moment */
	const ElfW(Dyn) *dynamic;
	void *scope;			/* of a library loaded later: a handle for dlsym */
	bool is_program;
	bool is_lasting;		/* there since the start: its scope is the global one */
	bool is_symbolic;		/* prefers its own symbols */
};

/* Where its calls are hooked. */
struct ftr_plt_hooked {
	uintptr_t *got;			/* one of the entries; NULL = there are none */
	uintptr_t stub;			/* what that holds while the module is hooked */
	uint32_t first, nr;		/* its stubs; some may be unused */
};

/* A call that is not like others (FTR_PLT_* flags). */
struct ftr_plt_call;
void ftr_plt_enter_special(const struct ftr_plt_call *call, uintptr_t *slot)
	__attribute__((visibility("hidden")));

/* What @info tells of a module: its addresses and how it binds. */
void ftr_plt_module_read(struct ftr_plt_module *module, const struct dl_phdr_info *info)
	__attribute__((visibility("hidden")));

/*
 * Hook the calls of the program that are listed in @table_fd (utils/proto/plt.h); closes it. Called
 * before the program's own code runs.  A slot that cannot be hooked stays as it is.  @is_nested:
 * there will be more.
 */
void ftr_plt_start(int table_fd, bool is_nested) __attribute__((visibility("hidden")));

/*
 * Hook the calls of @module; closes @table_fd.  @hooked tells of stubs that another module had,
 * which are used again if they suffice, and is filled.
 */
void ftr_plt_module_hook(const struct ftr_plt_module *module, int table_fd,
			 struct ftr_plt_hooked *hooked) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PROBE_PLT_H */
