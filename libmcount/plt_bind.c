/* SPDX-License-Identifier: MIT */
/*
 * Binding ahead of the first call, by the dynamic linker's own rules: the global scope, then what
 * the module itself was loaded with.
 *
 * Lookups are by handle: with RTLD_DEFAULT libmcount would come to depend on the module that is
 * found, and keep it loaded.  A library loaded later is only bound to by modules that hold it.
 */
#include "libmcount/plt_bind.h"

#include <dlfcn.h>

#include "libmcount/libraries.h"
#include "libmcount/plt_symbols.h"
#include "libmcount/state.h"

/*
 * dladdr1, all that there was before glibc 2.35, also looks at each symbol of the module for the
 * nearest one.
 */
void *ftr_plt_map_of(const void *addr)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object object;

	return _dl_find_object((void *)addr, &object) == 0 ? object.dlfo_link_map : NULL;
#else
	void *map = NULL;
	Dl_info info;

	return dladdr1(addr, &info, &map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
#endif
}

/*
 * The first module that defines the name, and of that the wanted version, or the name without any
 * (an allocator that is preloaded, say).  dlvsym alone passes over names without a version, dlsym
 * alone takes the newest version.  Neither is asked for what is nowhere: it would allocate, before
 * libc and the allocator are initialised.
 */
static void *lookup(void *scope, const char *name, const char *version)
{
	void *first = NULL, *versioned = NULL;

	if (ftr_symbols_any(ftr_state.program_map, name, ""))
		first = dlsym(scope, name);
	if (*version != 0 && ftr_symbols_any(ftr_state.program_map, name, version))
		versioned = dlvsym(scope, name, version);
	if (first == NULL || (*version != 0 && versioned == NULL))
		dlerror();	/* the program must not find our failure */
	if (versioned == NULL || first == NULL)
		return first != NULL ? first : versioned;
	return ftr_plt_map_of(first) == ftr_plt_map_of(versioned) ? versioned : first;
}

/* Is @addr what a program without PIE takes for a function's address: its own PLT entry? */
static bool is_programs_plt(const struct ftr_loaded *module, uint64_t plt, uintptr_t addr)
{
	const struct ftr_plt_stubs *stubs = &ftr_state.plt;
	uint32_t i;

	if (module->is_program)
		return addr == module->base + plt;
	if (ftr_plt_map_of((const void *)addr) != ftr_state.program_map)
		return false;
	for (i = 0; i < ftr_state.program_call_nr; i++) {
		if (stubs->calls[i].addr == addr)
			return true;
	}
	return false;
}

/*
 * What is behind that is looked for among the libraries, ours first: it may interpose the function.
 */
static void *lookup_behind_program(const char *name, const char *version)
{
	const void *ours = ftr_symbols_find(ftr_plt_map_of(&ftr_state), name, "");

	return ours != NULL ? (void *)ours : lookup(RTLD_NEXT, name, version);
}

static void *bind_global(const struct ftr_loaded *module, uint64_t plt, const char *name,
			 const char *version)
{
	void *target = lookup(ftr_state.program_map, name, version);

	if (target != NULL && is_programs_plt(module, plt, (uintptr_t)target))
		return lookup_behind_program(name, version);
	return target;
}

uintptr_t ftr_plt_bind(const struct ftr_loaded *module, uint64_t plt, const char *name,
		       const char *version)
{
	void *global, *local;

	if (module->is_symbolic && !module->is_program)
		return 0;
	global = bind_global(module, plt, name, version);
	if (module->is_lasting)
		return (uintptr_t)global;
	if (module->scope == NULL)
		return ftr_libraries_are_lasting((uintptr_t)global) ? (uintptr_t)global : 0;
	local = lookup(module->scope, name, version);
	if (global == NULL || global == local)
		return (uintptr_t)local;
	if (!ftr_libraries_are_lasting((uintptr_t)global) ||
	    (local != NULL && atomic_load(&ftr_state.has_deepbind)))
		return 0;
	return (uintptr_t)global;
}
