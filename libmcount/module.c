/* SPDX-License-Identifier: MIT */
/*
 * Modules that are loaded while the program runs are noticed at the first call into them, which may
 * be in their constructors, before dlopen has returned.  dlopen and dlclose count: after
 * either, what is known of an address range is looked at again before it is believed.
 */
#include "libmcount/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/hook.h"
#include "libmcount/maps.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/base/rt/sys.h"

#define PAGE 4096u

static uint32_t generation_now(void)
{
	return atomic_load_explicit(&ftr_state.module_generation, memory_order_acquire);
}

static struct ftr_known_module *known_find(uintptr_t func)
{
	uint32_t nr = atomic_load_explicit(&ftr_state.known_nr, memory_order_acquire), i;

	for (i = 0; i < nr && i < FTR_KNOWN_MAX; i++) {
		struct ftr_known_module *known = &ftr_state.known[i];

		if (func - known->low < known->bytes)
			return known;
	}
	return NULL;
}

/*
 * A place for a module that is not in the table: that of a forgotten one, else a new one; the last
 * one is used again and again.
 */
static struct ftr_known_module *known_new(void)
{
	uint32_t nr = atomic_load(&ftr_state.known_nr), i;

	for (i = 1; i < nr && i < FTR_KNOWN_MAX; i++) {
		if (atomic_exchange(&ftr_state.known[i].is_forgotten, false))
			return &ftr_state.known[i];
	}
	i = atomic_fetch_add(&ftr_state.known_nr, 1);
	return &ftr_state.known[i < FTR_KNOWN_MAX ? i : FTR_KNOWN_MAX - 1];
}

/*
 * What lay where @now is mapped is unloaded: should it come back to its old place, it is news.
 * (The image, the first, is there for good.)
 */
static void known_forget_under(const struct ftr_known_module *now)
{
	uint32_t nr = atomic_load(&ftr_state.known_nr), i;

	for (i = 1; i < nr && i < FTR_KNOWN_MAX; i++) {
		struct ftr_known_module *known = &ftr_state.known[i];

		if (known == now || known->bytes == 0 || known->low >= now->low + now->bytes ||
		    now->low >= known->low + known->bytes)
			continue;
		atomic_store(&known->sections, NULL);
		known->bytes = 0;
		atomic_store(&known->is_forgotten, true);
	}
}

const struct ftr_sections *ftr_module_sections(uintptr_t addr, uintptr_t *base)
{
	const struct ftr_known_module *known = known_find(addr);

	if (known == NULL)
		return NULL;
	if (base != NULL)
		*base = known->low & ~(uintptr_t)(PAGE - 1);
	return known == &ftr_state.known[0] ? ftr_sections_image() :
	       atomic_load_explicit(&known->sections, memory_order_acquire);
}

/*
 * Sections that are published stay mapped, so those of a library that is loaded again and again are
 * mapped once: the recorder's answer is the same.  NULL when there is no room for more.
 */
static const struct ftr_sections *sections_keep(const struct ftr_sections *sections)
{
	uint32_t nr = atomic_load(&ftr_state.kept_nr), i;

	for (i = 0; i < nr && i < FTR_KEPT_MAX; i++) {
		const struct ftr_sections *kept = atomic_load(&ftr_state.kept[i]);

		if (kept != NULL && ftr_sections_are_equal(kept, sections)) {
			ftr_sections_unmap(sections);
			return kept;
		}
	}
	i = i < FTR_KEPT_MAX ? atomic_fetch_add(&ftr_state.kept_nr, 1) : i;
	if (i >= FTR_KEPT_MAX) {
		ftr_sections_unmap(sections);
		return NULL;
	}
	atomic_store(&ftr_state.kept[i], sections);
	return sections;
}

/* An answer may arrive after one that another thread asked for later. */
static bool is_older(const struct ftr_sections *sections, const struct ftr_sections *than)
{
	return sections != NULL && than != NULL &&
	       (int32_t)(sections->generation - than->generation) < 0;
}

/* @sections (nullable) are given away. */
static void known_publish(struct ftr_known_module *known, const struct ftr_sections *sections)
{
	const struct ftr_sections *old = atomic_load(&known->sections);

	if (sections != NULL)
		sections = sections_keep(sections);
	do {
		if (is_older(sections, old))
			return;
	} while (!atomic_compare_exchange_weak(&known->sections, &old, sections));
	if (sections != old)
		ftr_probes_update(known->low, sections);
}

void ftr_module_publish(uintptr_t low, const struct ftr_sections *sections)
{
	struct ftr_known_module *known = known_find(low);

	if (known != NULL)
		known_publish(known, sections);
	else
		ftr_sections_unmap(sections);
}

static int known_add_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = start + phdr->p_memsz > high ? start + phdr->p_memsz : high;
	}
	if (low < high)
		*known_new() = (struct ftr_known_module){ .low = low, .bytes = high - low };
	return 0;
}

void ftr_module_start(void)
{
	dl_iterate_phdr(known_add_loaded, NULL);
}

int ftr_module_ask(const struct ftr_module_name *module, const struct ftr_sections **sections)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = FTR_CHANNEL_MODULE | (module->is_known ? FTR_CHANNEL_KNOWN : 0),
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
		.path_bytes = module->path_bytes,
		.time = module->is_known ? 0 : ftr_clock_read(),
		.base = module->base,
	};
	int fds[FTR_CHANNEL_REPLY_FDS] = { -1, -1 };
	int ret = -EAGAIN;

	if (sections != NULL)
		*sections = NULL;
	if (!ftr_channel_turn_take())
		return ret;
	ret = ftr_channel_ask(&message, module->path, sections != NULL ? fds : NULL);
	if (sections != NULL && ret == 0 && fds[0] >= 0)
		*sections = ftr_sections_map(fds[0]);
	ftr_channel_turn_give();
	return ret;
}

/* Is what is mapped now not what the recorder has heard of? */
static bool is_news(struct ftr_known_module *known, const struct ftr_mapping *mapping)
{
	if (known == NULL)
		return true;
	if (known->inode == 0 && known->low == mapping->low)
		known->inode = mapping->inode;	/* there since the start */
	return known->inode != mapping->inode || known->low != mapping->low;
}

static struct ftr_known_module *known_update(struct ftr_known_module *known,
					     const struct ftr_mapping *mapping)
{
	if (known == NULL)
		known = known_new();
	atomic_store(&known->sections, NULL);
	known->inode = mapping->inode;
	known->low = mapping->low;
	known->bytes = mapping->high - mapping->low;
	known_forget_under(known);
	return known;
}

/* Returns its sections, mapped. */
static const struct ftr_sections *report_module(const struct ftr_mapping *mapping)
{
	const struct ftr_sections *sections;
	const struct ftr_module_name module = {
		.base = mapping->low,
		.path = mapping->path,
		.path_bytes = mapping->path_bytes,
	};

	ftr_module_ask(&module, &sections);
	return sections;
}

/* Nothing is replaced when another library lies there by now: that one is reported by itself. */
static void known_refresh(struct ftr_known_module *known, struct ftr_mapping *mapping)
{
	struct ftr_module_name module = { .base = known->low, .is_known = true };
	const struct ftr_sections *sections;

	if (!ftr_maps_find(known->low, mapping) || mapping->inode == 0 ||
	    (known->inode != 0 && known->inode != mapping->inode))
		return;
	module.path = mapping->path;
	module.path_bytes = mapping->path_bytes;
	if (ftr_module_ask(&module, &sections) == 0)
		known_publish(known, sections);
}

/* There since the start, and what rules and values say of its functions was not asked for. */
static bool is_unasked(const struct ftr_known_module *known)
{
	return known != NULL && known != &ftr_state.known[0] && known->inode == 0 &&
	       atomic_load(&known->sections) == NULL &&
	       (atomic_load_explicit(&ftr_state.rules, memory_order_relaxed) != NULL ||
		atomic_load_explicit(&ftr_state.has_values, memory_order_relaxed));
}

/* Look at what is mapped now; report it when it is new to the recorder. */
static const struct ftr_known_module *known_renew(struct ftr_known_module *known, uintptr_t func,
						  uint32_t generation, struct ftr_mapping *mapping)
{
	const struct ftr_sections *sections = NULL;
	bool asks = is_unasked(known);

	if (!ftr_maps_find(func, mapping))
		return NULL;
	if (is_news(known, mapping)) {
		if (mapping->inode != 0)	/* before other threads take it for known */
			sections = report_module(mapping);
		known = known_update(known, mapping);
		known_publish(known, sections);
	} else if (asks) {
		known_refresh(known, mapping);
	}
	known->generation = generation;
	return known;
}

/* Room to look something up in; NULL = none.  It is too large for a small stack. */
static struct ftr_mapping *mapping_new(void)
{
	long mem = ftr_sys_map(0, sizeof(struct ftr_mapping), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ftr_sys_map_failed(mem) ? NULL : (struct ftr_mapping *)mem;
}

static void mapping_free(struct ftr_mapping *mapping)
{
	ftr_sys2(SYS_munmap, mapping, sizeof(*mapping));
}

void ftr_modules_refresh(bool all)
{
	uint32_t nr = atomic_load(&ftr_state.known_nr), i;
	struct ftr_mapping *mapping = NULL;

	for (i = 1; i < nr && i < FTR_KNOWN_MAX; i++) {		/* 0 is the image */
		struct ftr_known_module *known = &ftr_state.known[i];

		if (!all && atomic_load(&known->sections) == NULL)
			continue;
		if (mapping == NULL)
			mapping = mapping_new();
		if (mapping == NULL)
			return;
		known_refresh(known, mapping);
	}
	if (mapping != NULL)
		mapping_free(mapping);
}

static const struct ftr_known_module *module_of(uintptr_t func, uint32_t generation)
{
	struct ftr_known_module *known = known_find(func);
	const struct ftr_known_module *renewed;
	struct ftr_mapping *mapping;

	if (known != NULL && known->generation == generation && !is_unasked(known))
		return known;
	mapping = mapping_new();
	if (mapping == NULL)
		return known;
	renewed = known_renew(known, func, generation, mapping);
	mapping_free(mapping);
	return renewed != NULL ? renewed : known;
}

bool ftr_module_look(struct ftr_module_name *module, struct ftr_mapping *mapping)
{
	struct ftr_known_module *known = known_find(module->base);
	uint32_t generation = generation_now();

	if (!ftr_maps_find(module->base, mapping) || mapping->inode == 0)
		return false;
	module->base = mapping->low;
	module->path = mapping->path;
	module->path_bytes = mapping->path_bytes;
	module->is_known = !is_news(known, mapping);
	if (!module->is_known)
		known = known_update(known, mapping);
	known->generation = generation;
	return true;
}

__attribute__((noinline, cold))
void ftr_module_check(struct ftr_thread *self, uintptr_t func)
{
	uint32_t generation = generation_now();
	const struct ftr_known_module *module;

	if (self->is_refused || ftr_is_silent())
		return;
	module = module_of(func, generation);
	self->module_generation = generation;
	self->module_low = module != NULL ? module->low : func;
	self->module_bytes = module != NULL ? module->bytes : 1;
	ftr_sections_refresh();
}

/* What libc looks up by the module that calls dlopen. */
struct caller {
	uintptr_t ip;
	bool is_found;
	bool has_runpath;		/* it is searched for names without a slash */
	bool is_inherited;		/* a library has a path that those it loads search, too */
	bool is_after_program;
};

static bool has_tag(const struct dl_phdr_info *info, const ElfW(Phdr) *phdr, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *dyn = (const ElfW(Dyn) *)(info->dlpi_addr + phdr->p_vaddr);

	while (dyn->d_tag != DT_NULL && dyn->d_tag != tag)
		dyn++;
	return dyn->d_tag == tag;
}

static int caller_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) *dynamic = NULL;
	struct caller *caller = arg;
	bool is_here = false;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];

		if (phdr->p_type == PT_DYNAMIC)
			dynamic = phdr;
		else if (phdr->p_type == PT_LOAD)
			is_here |= caller->ip - (info->dlpi_addr + phdr->p_vaddr) < phdr->p_memsz;
	}
	caller->is_found |= is_here;
	if (dynamic != NULL && is_here)
		caller->has_runpath = has_tag(info, dynamic, DT_RUNPATH);
	if (dynamic != NULL && caller->is_after_program)
		caller->is_inherited |= has_tag(info, dynamic, DT_RPATH);
	caller->is_after_program = true;
	return 0;
}

/* Does libc find the same whoever calls it?  It searches the program's own DT_RPATH for all. */
static bool is_same_for_all(const char *file, uintptr_t ip)
{
	struct caller caller = { .ip = ip };
	bool has_slash = false;

	for (; file != NULL && *file != '\0'; file++) {
		if (*file == '$')
			return false;		/* $ORIGIN */
		has_slash |= *file == '/';
	}
	dl_iterate_phdr(caller_look, &caller);
	return caller.is_found && !caller.is_inherited && (has_slash || !caller.has_runpath);
}

struct dlopen_way {
	void *real;
	uint64_t is_call;		/* else a jump */
};

/* Called by dlopen and dlmopen (arch/ISA/dlopen.S), which return to @ip. */
struct dlopen_way ftr_dlopen_real(int is_dlmopen, int mode, const char *file,
				  uintptr_t ip) FTR_HIDDEN;
struct dlopen_way ftr_dlopen_real(int is_dlmopen, int mode, const char *file, uintptr_t ip)
{
	void *real = is_dlmopen ? (void *)REAL(dlmopen) : (void *)REAL(dlopen);

	atomic_fetch_add(&ftr_state.module_generation, 1);
	if ((mode & RTLD_DEEPBIND) != 0)
		atomic_store(&ftr_state.has_deepbind, true);
	return (struct dlopen_way){ real, ftr_state.control != NULL && is_same_for_all(file, ip) };
}

FTR_EXPORT int dlclose(void *handle)
{
	int ret;

	ftr_frames_end();	/* while the functions have their names */
	ret = REAL(dlclose)(handle);
	ftr_frames_end();	/* of destructors */
	atomic_fetch_add(&ftr_state.module_generation, 1);
	return ret;
}
