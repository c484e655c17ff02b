/* SPDX-License-Identifier: MIT */
/*
 * A probe: a way to get control when the program calls something.  One const struct a probe, at the
 * end of libmcount/probe_NAME.c, listed in probes.def.  Members that a probe has no use for are
 * NULL; a probe that the compiler or the dynamic linker starts by itself has only its name.
 *
 * The recorder says which probes are on (FTR_SECTION_SWITCHES): start and module are called for
 * those alone.  They run in the constructor, before those of libc and of the program, or inside
 * dlopen with the dynamic linker's lock held: nothing may be allocated, no library opened, and of
 * libc only what tests/lint/mcount-undefined.txt lists may be called.  Descriptors are closed again
 * before they return.
 */
#ifndef FTR_LIBMCOUNT_PROBE_H
#define FTR_LIBMCOUNT_PROBE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "utils/proto/sections.h"

struct ftr_plt_hooked;

/* A loaded module: the program's image or a library. */
struct ftr_loaded {
	uintptr_t base;			/* load address */
	const char *name;		/* (borrowed, for now) its path; "" = the program */
	uintptr_t text, text_end;	/* from its first executable byte to its last */
	uintptr_t relro, relro_end;	/* must be made writable for a moment */
	const ElfW(Dyn) *dynamic;
	void *scope;			/* of a library loaded later: a handle for dlsym */
	struct ftr_plt_hooked *hooked;	/* (borrowed) of probe plt; the library's for good */
	bool *was_running;		/* (borrowed) likewise of probe patch; NULL: the program */
	uint32_t slot;			/* no other loaded library has it; 0 = the program */
	bool is_program;
	bool is_lasting;		/* there since the start: its scope is the global one */
	bool is_before_init;		/* shown before its _init can have run, if that calls us */
	bool is_symbolic;		/* prefers its own symbols */
};

struct ftr_probe {
	const char *name;		/* of its switch; at most FTR_SWITCH_NAME_BYTES */
	/* Once, before the first module; @sections are the image's. */
	void (*start)(const struct ftr_sections *sections);
	/*
	 * The program's image, then, with FTR_SWITCH_LIBRARIES, each library: before its own code
	 * runs, relocated but for what is bound lazily.  @sections are the module's, for now:
	 * ftr_module_sections finds those that are published.
	 */
	void (*module)(const struct ftr_loaded *module, const struct ftr_sections *sections);
	/*
	 * The sections of the image (@low 0) or of the library whose lowest address is @low have
	 * been published; NULL = there are none any more.  They stay mapped.  Called for probes
	 * that are off, too: after start and module, and later inside a hook.
	 */
	void (*update)(uintptr_t low, const struct ftr_sections *sections);
};

/* Iterate over probes.def: *pos starts at 0; NULL at the end. */
const struct ftr_probe *ftr_probe_next(unsigned *pos) __attribute__((visibility("hidden")));

/* Start what the image's @sections switch on, and show it the image and the libraries. */
void ftr_probes_start(const struct ftr_sections *sections) __attribute__((visibility("hidden")));

/* A library was loaded; its @sections say which probes are on in it. */
void ftr_probes_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/* Sections have been published; see struct ftr_probe. */
void ftr_probes_update(uintptr_t low, const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/*
 * What of it the dynamic linker has made read-only is writable from one to the other; false: it
 * cannot be made so.  No other thread may be loading it.
 */
bool ftr_loaded_open(const struct ftr_loaded *module) __attribute__((visibility("hidden")));
void ftr_loaded_close(const struct ftr_loaded *module) __attribute__((visibility("hidden")));

/* What @info says of a module: its addresses and how it binds. */
void ftr_loaded_read(struct ftr_loaded *module, const struct dl_phdr_info *info)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PROBE_H */
