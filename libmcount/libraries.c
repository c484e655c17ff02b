/* SPDX-License-Identifier: MIT */
/*
 * The list of libraries: the recorder is asked for the sections of each, and the probes get to see
 * them.
 *
 * A library that is loaded later is looked at before its constructors run: the _init that the
 * compiler's startup files put into each library calls __gmon_start__ if there is one, and so ours.
 * By then all that is loaded with it is relocated, and the dynamic linker holds its lock.  A -pg
 * program may have a __gmon_start__ of its own; then the library is looked at when the program asks
 * for a function in it, see ftr_libraries_look.
 */
#include "libmcount/libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/invariant.h"
#include "libmcount/late.h"
#include "libmcount/looking.h"
#include "libmcount/maps.h"
#include "libmcount/module.h"
#include "libmcount/plt_bind.h"
#include "libmcount/probe.h"
#include "libmcount/probe_plt.h"
#include "libmcount/sections.h"
#include "libmcount/semaphores.h"
#include "utils/base/rt/sys.h"

#define LIBRARIES_MAX 4096
#define PATH_BYTES 4096

struct library {
	uintptr_t low, bytes;		/* bytes 0: unloaded, its stubs are free */
	uint64_t subs;			/* unloadings that there had been when it was looked at */
	struct ftr_plt_hooked hooked;
	bool is_lasting;
	bool was_running;		/* probe patch found its code in use */
};

/* A loaded module, while the dynamic linker's lock is held. */
struct found {
	struct ftr_loaded module;
	uintptr_t low, bytes;
	const char *name;
	const void *phdr;
	bool is_new;
};

struct ftr_libraries {
	uint64_t adds, subs;		/* of dl_iterate_phdr at the last look */
	uintptr_t program_low, program_bytes;
	uintptr_t init_at;		/* in the library whose _init has begun; 0 = in none */
	uint32_t library_nr, found_nr;
	struct library libraries[LIBRARIES_MAX];
	struct found found[LIBRARIES_MAX];
	struct ftr_mapping mapping;
};

FTR_EXPORT void __gmon_start__(void);
FTR_EXPORT void ftr_libraries_locked(void);

static int found_add(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ftr_libraries *all = arg;
	struct found *found = &all->found[all->found_nr];
	uintptr_t high = 0;
	int i;

	if (all->found_nr == LIBRARIES_MAX)
		return 1;
	found->low = UINTPTR_MAX;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD)
			continue;
		found->low = start < found->low ? start : found->low;
		high = start + phdr->p_memsz > high ? start + phdr->p_memsz : high;
	}
	if (found->low >= high)
		return 0;
	found->bytes = high - found->low;
	found->name = info->dlpi_name;
	found->phdr = info->dlpi_phdr;
	found->module.scope = NULL;
	ftr_loaded_read(&found->module, info);
	all->adds = info->dlpi_adds;
	all->subs = info->dlpi_subs;
	all->found_nr++;
	return 0;
}

static struct library *library_at(struct ftr_libraries *all, uintptr_t low)
{
	uint32_t i;

	for (i = 0; i < all->library_nr; i++) {
		if (all->libraries[i].bytes != 0 && all->libraries[i].low == low)
			return &all->libraries[i];
	}
	return NULL;
}

/* Unloaded ones are forgotten; their stubs are not. */
static void unloaded_forget(struct ftr_libraries *all)
{
	uint32_t i, k;

	for (i = 0; i < all->library_nr; i++) {
		struct library *library = &all->libraries[i];

		for (k = 0; k < all->found_nr && all->found[k].low != library->low; k++)
			;
		if (k < all->found_nr)
			continue;
		ftr_code_plan_forget(&ftr_state.code_plan, library->low, library->bytes);
		ftr_semaphores_doubt(library->low, library->bytes);
		library->bytes = 0;
	}
}

/* A place for a library; one with enough stubs would do best, but their number is not known yet. */
static struct library *library_new(struct ftr_libraries *all)
{
	struct library *best = NULL;
	uint32_t i;

	for (i = 0; i < all->library_nr; i++) {
		struct library *library = &all->libraries[i];

		if (library->bytes == 0 && (best == NULL || library->hooked.nr > best->hooked.nr))
			best = library;
	}
	if (best == NULL && all->library_nr < LIBRARIES_MAX)
		best = &all->libraries[all->library_nr++];
	return best;
}

/* Is it the library that was hooked, or was that unloaded and one loaded at the same place? */
static bool is_hooked(const struct ftr_libraries *all, const struct library *library)
{
	if (library->is_lasting && ftr_state.attached == FTR_ATTACH_IDLE)
		return true;
	if (library->hooked.got != NULL)
		return *library->hooked.got == library->hooked.stub;
	return library->subs == all->subs;
}

/*
 * The recorder's sections for the library; NULL = no probe is on in it.  Also reports one that was
 * loaded later, unless a call did so already.
 */
static const struct ftr_sections *sections_ask(struct ftr_libraries *all, const struct found *found,
					       bool is_start)
{
	struct ftr_module_name module = {
		.base = found->low,
		.path = found->name,
		.path_bytes = (uint32_t)strlen(found->name),
		.is_known = true,
	};
	const struct ftr_sections *sections = NULL;

	if ((!is_start || module.path[0] != '/') &&
	    !ftr_module_look(&module, &all->mapping))
		return NULL;
	return ftr_module_ask(&module, &sections) == 0 ? sections : NULL;
}

static void library_show(struct ftr_libraries *all, struct found *found, bool is_start)
{
	struct library *library = library_at(all, found->low);
	const struct ftr_sections *sections;

	if (library == NULL) {
		library = library_new(all);
		if (library == NULL)
			return;
		library->was_running = false;
	}
	if (all->init_at - found->low < found->bytes)
		library->was_running = false;	/* another one, at the same place */
	library->low = found->low;
	library->bytes = found->bytes;
	library->subs = all->subs;
	library->is_lasting = found->module.is_lasting = is_start;
	library->hooked.got = NULL;
	found->module.hooked = &library->hooked;
	found->module.was_running = &library->was_running;
	found->module.slot = (uint32_t)(library - all->libraries) + 1;
	if (!is_start)
		ftr_code_plan_renew(&ftr_state.code_plan, found->module.text,
				    found->module.text_end);
	if (!is_start && ftr_state.attached != FTR_ATTACH_IDLE) {
		ftr_semaphores_doubt(found->low, found->bytes);
		ftr_late_hook_library(found->low);
	}
	sections = sections_ask(all, found, is_start);
	if (sections == NULL)
		return;
	ftr_probes_module(&found->module, sections);
	ftr_module_publish(found->low, sections);
}

/* Which ones are to be shown? */
static void news_find(struct ftr_libraries *all)
{
	uint32_t i;

	for (i = 1; i < all->found_nr; i++) {		/* 0 is the program */
		struct found *found = &all->found[i];
		const struct library *library = library_at(all, found->low);

		found->is_new = library == NULL || !is_hooked(all, library);
	}
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/*
 * A string of the module's dynamic section; the loader has made its address absolute where it could
 * write.
 */
static const char *dynamic_string(const struct ftr_loaded *module, uint64_t offset)
{
	const ElfW(Dyn) *dyn;

	for (dyn = module->dynamic; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_STRTAB)
			return (const char *)dyn->d_un.d_ptr + offset +
			       (dyn->d_un.d_ptr < module->base ? module->base : 0);
	}
	return "";
}

/* Does @parent name @child among what it needs? */
static bool is_needed_by(const struct found *child, const struct found *parent)
{
	const ElfW(Dyn) *dyn = parent->module.dynamic;

	for (; dyn != NULL && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_NEEDED &&
		    strcmp(last_part(dynamic_string(&parent->module, dyn->d_un.d_val)),
			   last_part(child->name)) == 0)
			return true;
	}
	return false;
}

/*
 * A library that dlopen loads sees, besides the global scope, what was loaded with the one that
 * dlopen was called for: that is the first of the list, and what it and those that it needs do need
 * follows behind them.
 */
static void scopes_set(struct ftr_libraries *all)
{
	struct found *first = NULL;
	uint32_t i, k;

	for (i = 1; i < all->found_nr; i++) {
		struct found *found = &all->found[i];

		if (!found->is_new)
			continue;
		if (first == NULL) {
			first = found;
			found->module.scope = ftr_plt_map_of(found->phdr);
		}
		for (k = 1; k < i && found->module.scope == NULL; k++) {
			if (all->found[k].module.scope != NULL &&
			    is_needed_by(found, &all->found[k]))
				found->module.scope = all->found[k].module.scope;
		}
	}
}

enum look_time {
	LOOK_START,		/* none of their code has run */
	LOOK_INIT,		/* _init of that at init_at has begun, of other new ones not yet */
	LOOK_LATER,
};

/* Alone: at the start of a program, or under the dynamic linker's lock. */
static void look(struct ftr_libraries *all, enum look_time time)
{
	bool is_start = time == LOOK_START;
	uint64_t subs = all->subs;
	struct ftr_pause pause;
	uint32_t i;

	all->found_nr = 0;
	dl_iterate_phdr(found_add, all);
	if (!is_start && ftr_state.attached != FTR_ATTACH_IDLE && all->subs != subs)
		ftr_late_forget();
	if (!FTR_INVARIANT(all->found_nr > 0))	/* the program at least */
		return;
	all->program_low = all->found[0].low;
	all->program_bytes = all->found[0].bytes;
	ftr_thread_pause(&ftr_self, &pause);	/* the program does not make libc's calls here */
	unloaded_forget(all);
	news_find(all);
	if (!is_start)
		scopes_set(all);
	for (i = 1; i < all->found_nr; i++) {
		all->found[i].module.is_before_init = time == LOOK_INIT && !ftr_state.has_unseen;
		if (all->found[i].is_new)
			library_show(all, &all->found[i], is_start);
	}
	ftr_thread_resume(&ftr_self, &pause);
}

void ftr_libraries_start(void)
{
	long mem = ftr_sys_map(0, sizeof(struct ftr_libraries), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return;
	ftr_state.libraries = (struct ftr_libraries *)mem;
	look(ftr_state.libraries, LOOK_START);
}

uint64_t ftr_libraries_bytes(void)
{
	return sizeof(struct ftr_libraries);
}

static int counts_differ(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct ftr_libraries *all = arg;

	return info->dlpi_adds != all->adds || info->dlpi_subs != all->subs ? 2 : 1;
}

static bool is_stale(struct ftr_libraries *all)
{
	return all != NULL && dl_iterate_phdr(counts_differ, all) == 2;
}

static void look_again(enum look_time time, uintptr_t init_at)
{
	struct ftr_libraries *all = ftr_state.libraries;

	if (!is_stale(all))
		return;
	atomic_fetch_add(&ftr_state.module_generation, 1);
	all->init_at = init_at;
	look(all, time);
}

void __gmon_start__(void)
{
	const struct ftr_code_plan *plan = &ftr_state.code_plan;
	uint32_t planned = plan->nr;

	look_again(LOOK_INIT, (uintptr_t)__builtin_return_address(0));
	if (plan->nr != planned)
		ftr_code_plan_send(plan);
}

/*
 * dlsym calls the resolver of an indirect function with the dynamic linker's lock held, and nothing
 * else that can be called does: so this is how to run something while no library comes or goes.
 */
static __attribute__((used)) void (*locked_resolve(void))(void)	/* by its name alone */
{
	struct ftr_code_plan *plan = &ftr_state.code_plan;
	uint32_t planned = plan->nr;

	if (ftr_state.attached == FTR_ATTACH_UNHOOKED)
		return NULL;			/* since we were called */
	plan->is_open = ftr_state.attached == FTR_ATTACH_ATTACHED;
	look_again(LOOK_LATER, 0);
	plan->is_open = false;
	if (plan->nr != planned)
		ftr_code_plan_send(plan);
	return NULL;
}

/*
 * The first _init of what dlopen loads has begun, in a program that this was attached to: the
 * dynamic linker holds its lock.  One that comes while it is being left is not looked at, so if it
 * is recorded after all, those that are found later may have begun long ago.
 */
static void library_begins(uintptr_t at)
{
	struct ftr_code_plan *plan = &ftr_state.code_plan;
	uint32_t planned = plan->nr;

	ftr_looking_begin();
	if (ftr_state.attached == FTR_ATTACH_UNHOOKED)
		ftr_state.has_unseen = true;
	if (ftr_state.attached == FTR_ATTACH_ATTACHED && is_stale(ftr_state.libraries)) {
		plan->is_open = true;
		look_again(LOOK_INIT, at);
		plan->is_open = false;
		if (plan->nr != planned)
			ftr_code_plan_send(plan);
	}
	ftr_looking_end();
}

/* What is beside our file; nothing of it is missed where there is none. */
void ftr_libraries_start_late(void)
{
	static const char suffix[] = ".so", late[] = "-late.so";
	const struct link_map *own = ftr_plt_map_of(&ftr_state);
	size_t len = own != NULL ? strlen(own->l_name) : 0;
	void (*_Atomic *init)(uintptr_t at);
	char path[PATH_BYTES];
	void *library;

	if (len < sizeof(suffix) || len + sizeof(late) > sizeof(path))
		return;
	memcpy(path, own->l_name, len - (sizeof(suffix) - 1));
	memcpy(path + len - (sizeof(suffix) - 1), late, sizeof(late));
	library = REAL(dlopen)(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
	init = library != NULL ? REAL(dlsym)(library, "ftr_late_init") : NULL;
	if (init != NULL)
		atomic_store(init, library_begins);
}

void ftr_libraries_locked(void) __attribute__((ifunc("locked_resolve")));

/* The stub of dlsym calls us with the stack as it is; libc wants it aligned. */
FTR_ARCH_ALIGNS_STACK void ftr_libraries_look(void)
{
	bool is_launched = ftr_state.attached == FTR_ATTACH_IDLE;

	ftr_looking_begin();
	/* Not while it is being attached to, nor when it is being left. */
	if ((is_launched ||
	     (ftr_state.attached == FTR_ATTACH_ATTACHED && !ftr_state.code_plan.is_open)) &&
	    is_stale(ftr_state.libraries))
		dlsym(is_launched ? ftr_state.program_map : ftr_plt_map_of(&ftr_state),
		      "ftr_libraries_locked");
	ftr_looking_end();
}

/* A thread has returned from libc's, with @handle, to the call at @slot. */
void ftr_dlopen_returned(const uintptr_t *slot, const void *handle) FTR_HIDDEN;
void ftr_dlopen_returned(const uintptr_t *slot, const void *handle)
{
	ftr_frame_returned(slot);
	if (ftr_state.attached != FTR_ATTACH_IDLE && handle != NULL)	/* else dlerror tells why */
		ftr_libraries_look();
}

/* Called by our dlsym and dlvsym (arch/ISA/dlopen.S), which go on to what this returns. */
void *ftr_dlsym_real(int is_dlvsym) FTR_HIDDEN;
void *ftr_dlsym_real(int is_dlvsym)
{
	ftr_libraries_look();
	return is_dlvsym ? (void *)REAL(dlvsym) : (void *)REAL(dlsym);
}

bool ftr_libraries_are_lasting(uintptr_t addr)
{
	const struct ftr_libraries *all = ftr_state.libraries;
	uint32_t i;

	for (i = 0; all != NULL && i < all->library_nr; i++) {
		const struct library *library = &all->libraries[i];

		if (addr - library->low < library->bytes)
			return library->is_lasting;
	}
	return all != NULL && addr - all->program_low < all->program_bytes;
}
