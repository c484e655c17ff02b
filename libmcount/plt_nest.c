/* SPDX-License-Identifier: MIT */
/*
 * Libraries whose own calls are hooked: each is asked for at the recorder, by its file.
 *
 * A library that is loaded later is hooked before its constructors run: the _init that the
 * compiler's startup files put into each library calls __gmon_start__ if there is one, and so ours.
 * By then all that is loaded with it is relocated, and the dynamic linker holds its lock.  A -pg
 * program may have a __gmon_start__ of its own; then the library is hooked when the program asks
 * for a function in it, see ftr_plt_nest_look.
 */
#include "libmcount/plt_nest.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/maps.h"
#include "libmcount/module.h"
#include "libmcount/plt_bind.h"
#include "libmcount/probe_plt.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/channel.h"

#define LIBRARIES_MAX 4096

struct library {
	uintptr_t low, bytes;		/* bytes 0: unloaded, its stubs are free */
	uint64_t subs;			/* unloadings that there had been when it was looked at */
	struct ftr_plt_hooked hooked;
	bool is_lasting;
};

/* A loaded module, while the dynamic linker's lock is held. */
struct found {
	struct ftr_plt_module module;
	uintptr_t low, bytes;
	const char *name;
	const void *phdr;
	bool is_new;
};

struct ftr_plt_nest {
	uint64_t adds, subs;		/* of dl_iterate_phdr at the last look */
	uintptr_t program_low, program_bytes;
	uint32_t library_nr, found_nr;
	struct library libraries[LIBRARIES_MAX];
	struct found found[LIBRARIES_MAX];
	struct ftr_mapping mapping;
};

FTR_EXPORT void __gmon_start__(void);
FTR_EXPORT void ftr_plt_nest_locked(void);

static int found_add(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ftr_plt_nest *nest = arg;
	struct found *found = &nest->found[nest->found_nr];
	uintptr_t high = 0;
	int i;

	if (nest->found_nr == LIBRARIES_MAX)
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
	ftr_plt_module_read(&found->module, info);
	nest->adds = info->dlpi_adds;
	nest->subs = info->dlpi_subs;
	nest->found_nr++;
	return 0;
}

static struct library *library_at(struct ftr_plt_nest *nest, uintptr_t low)
{
	uint32_t i;

	for (i = 0; i < nest->library_nr; i++) {
		if (nest->libraries[i].bytes != 0 && nest->libraries[i].low == low)
			return &nest->libraries[i];
	}
	return NULL;
}

/* Unloaded ones are forgotten; their stubs are not. */
static void unloaded_forget(struct ftr_plt_nest *nest)
{
	uint32_t i, k;

	for (i = 0; i < nest->library_nr; i++) {
		struct library *library = &nest->libraries[i];

		for (k = 0; k < nest->found_nr && nest->found[k].low != library->low; k++)
			;
		if (k == nest->found_nr)
			library->bytes = 0;
	}
}

/* A place for a library; one with enough stubs would do best, but their number is not known yet. */
static struct library *library_new(struct ftr_plt_nest *nest)
{
	struct library *best = NULL;
	uint32_t i;

	for (i = 0; i < nest->library_nr; i++) {
		struct library *library = &nest->libraries[i];

		if (library->bytes == 0 && (best == NULL || library->hooked.nr > best->hooked.nr))
			best = library;
	}
	if (best == NULL && nest->library_nr < LIBRARIES_MAX)
		best = &nest->libraries[nest->library_nr++];
	return best;
}

/* Is it the library that was hooked, or was that unloaded and one loaded at the same place? */
static bool is_hooked(const struct ftr_plt_nest *nest, const struct library *library)
{
	if (library->is_lasting)
		return true;
	if (library->hooked.got != NULL)
		return *library->hooked.got == library->hooked.stub;
	return library->subs == nest->subs;
}

/* The recorder's table for the library's file; -1 = none of its calls is to be hooked. */
static int table_ask(const char *path, uint32_t path_bytes, uintptr_t low)
{
	int fds[FTR_CHANNEL_REPLY_FDS] = { -1, -1 };
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = FTR_CHANNEL_LIBCALLS,
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
		.path_bytes = path_bytes,
		.base = low,
	};

	if (ftr_channel_ask(&message, path, fds) < 0)
		return -1;
	return fds[0];
}

static void library_hook(struct ftr_plt_nest *nest, struct found *found, bool is_start)
{
	struct library *library = library_at(nest, found->low);
	const char *path = found->name;
	uint32_t path_bytes = (uint32_t)strlen(path);
	int fd;

	if (library == NULL)
		library = library_new(nest);
	if (library == NULL)
		return;
	library->low = found->low;
	library->bytes = found->bytes;
	library->subs = nest->subs;
	library->is_lasting = found->module.is_lasting = is_start;
	library->hooked.got = NULL;
	if (!is_start || path[0] != '/') {
		if (!ftr_module_look(found->low, &nest->mapping) || nest->mapping.inode == 0)
			return;
		path = nest->mapping.path;
		path_bytes = nest->mapping.path_bytes;
	}
	fd = table_ask(path, path_bytes, found->low);
	if (fd >= 0)
		ftr_plt_module_hook(&found->module, fd, &library->hooked);
}

/* Which ones are to be hooked? */
static void news_find(struct ftr_plt_nest *nest)
{
	uint32_t i;

	for (i = 1; i < nest->found_nr; i++) {		/* 0 is the program */
		struct found *found = &nest->found[i];
		const struct library *library = library_at(nest, found->low);

		found->is_new = library == NULL || !is_hooked(nest, library);
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
static const char *dynamic_string(const struct ftr_plt_module *module, uint64_t offset)
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
static void scopes_set(struct ftr_plt_nest *nest)
{
	struct found *first = NULL;
	uint32_t i, k;

	for (i = 1; i < nest->found_nr; i++) {
		struct found *found = &nest->found[i];

		if (!found->is_new)
			continue;
		if (first == NULL) {
			first = found;
			found->module.scope = ftr_plt_map_of(found->phdr);
		}
		for (k = 1; k < i && found->module.scope == NULL; k++) {
			if (nest->found[k].module.scope != NULL &&
			    is_needed_by(found, &nest->found[k]))
				found->module.scope = nest->found[k].module.scope;
		}
	}
}

/* Alone: at the start, or under the dynamic linker's lock. */
static void look(struct ftr_plt_nest *nest, bool is_start)
{
	struct ftr_pause pause;
	uint32_t i;

	nest->found_nr = 0;
	dl_iterate_phdr(found_add, nest);
	nest->program_low = nest->found[0].low;
	nest->program_bytes = nest->found[0].bytes;
	ftr_thread_pause(&ftr_self,
			 &pause); /* what libc calls meanwhile is not the program's doing */
	unloaded_forget(nest);
	news_find(nest);
	if (!is_start)
		scopes_set(nest);
	for (i = 1; i < nest->found_nr; i++) {
		if (nest->found[i].is_new)
			library_hook(nest, &nest->found[i], is_start);
	}
	ftr_thread_resume(&ftr_self, &pause);
}

static int program_find(struct dl_phdr_info *info, size_t size, void *arg)
{
	ftr_state.program_map = ftr_plt_map_of(info->dlpi_phdr);
	return 1;
}

void ftr_plt_nest_start(void)
{
	long mem = ftr_sys6(SYS_mmap, 0, sizeof(struct ftr_plt_nest), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ftr_sys_map_failed(mem))
		return;
	if (ftr_state.plt.calls == NULL && !ftr_plt_stubs_start(&ftr_state.plt, FTR_PLT_STUB_MAX))
		return;
	dl_iterate_phdr(program_find, NULL);
	ftr_state.plt_nest = (struct ftr_plt_nest *)mem;
	look(ftr_state.plt_nest, true);
}

static int counts_differ(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct ftr_plt_nest *nest = arg;

	return info->dlpi_adds != nest->adds || info->dlpi_subs != nest->subs ? 2 : 1;
}

static bool is_stale(struct ftr_plt_nest *nest)
{
	return nest != NULL && dl_iterate_phdr(counts_differ, nest) == 2;
}

static void look_again(void)
{
	struct ftr_plt_nest *nest = ftr_state.plt_nest;

	if (!is_stale(nest))
		return;
	atomic_fetch_add(&ftr_state.module_generation, 1);
	look(nest, false);
}

void __gmon_start__(void)
{
	look_again();
}

/*
 * dlsym calls the resolver of an indirect function with the dynamic linker's lock held, and nothing
 * else that can be called does: so this is how to run something while no library comes or goes.
 */
static __attribute__((used)) void (*locked_resolve(void))(void)	/* by its name alone */
{
	look_again();
	return NULL;
}

void ftr_plt_nest_locked(void) __attribute__((ifunc("locked_resolve")));

/* The stub of dlsym calls us with the stack as it is; libc wants it aligned. */
__attribute__((force_align_arg_pointer))
void ftr_plt_nest_look(void)
{
	if (is_stale(ftr_state.plt_nest))
		dlsym(ftr_state.program_map, "ftr_plt_nest_locked");
}

bool ftr_plt_is_lasting(uintptr_t addr)
{
	const struct ftr_plt_nest *nest = ftr_state.plt_nest;
	uint32_t i;

	for (i = 0; nest != NULL && i < nest->library_nr; i++) {
		const struct library *library = &nest->libraries[i];

		if (addr - library->low < library->bytes)
			return library->is_lasting;
	}
	return nest != NULL && addr - nest->program_low < nest->program_bytes;
}
