/* SPDX-License-Identifier: MIT */
/*
 * The ELF files mapped in traced processes: each is looked at once, until another file has its
 * path, and the symbols of those that are instrumented are written; of large files by a helper
 * process, so that no task is delayed.
 */
#ifndef FTR_RECORD_MODULES_H
#define FTR_RECORD_MODULES_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/write.h"
#include "utils/object/elf.h"
#include "utils/proto/sections.h"
#include "utils/record/named_events.h"
#include "utils/record/sections.h"

struct ftr_record_choice;

/* What the runtime gets about a module. */
struct ftr_module_sections {
	int fd;				/* (owned) or negative: there is nothing to send */
	uint32_t generation;		/* that they were made in */
	bool are_made;
};
#define FTR_MODULE_ROLES 2		/* a library, the program's image */

struct ftr_module_file {
	char *path;			/* (owned) */
	struct ftr_elf_info elf;
	uint64_t size_bytes;
	bool is_readable;		/* elf is filled */
	bool is_wanted;			/* its symbols are needed */
	bool is_stored;			/* and have been given to a helper */
	uint32_t loaded_hooks;		/* as an image: of its libraries, what matters to it */
	uint64_t device, inode;		/* which file the path led to; 0, 0 = none */
	uint32_t turn;			/* when the path was last seen to lead there */
	struct timespec changed;
	struct ftr_module_sections sections[FTR_MODULE_ROLES];	/* by is_image */
};

struct ftr_modules {
	FTR_VEC(struct ftr_module_file *) files;	/* (owned) */
	FTR_VEC(pid_t) helpers;		/* still at work */
	FTR_VEC(struct ftr_switch) switches;	/* of the runtime's probes */
	const struct ftr_option_values *options; /* (borrowed, nullable) given to their makers */
	const struct ftr_record_choice *choice;	/* (borrowed, nullable) */
	const struct ftr_patch_values *patch_values; /* (borrowed, nullable) as they are now */
	uint32_t generation;		/* of what the sections say; 0 = from the start */
	uint32_t turn;			/* a message that is answered: paths lead to one file */
	struct ftr_section_tracing tracing;
	bool is_in_use;			/* an image was answered: a switch is a new generation */
	struct ftr_strbuf notes;	/* lines of makers for people who want to know more */
	struct ftr_named_events events;
};

/*
 * Switch the runtime's @probe (at most FTR_SWITCH_NAME_BYTES) to the FTR_SWITCH_* flags of @value.
 * With is_in_use the generation grows; images that see it ask for their sections again.  0 or
 * -ENOMEM.
 */
int ftr_modules_switch(struct ftr_modules *modules, const char *probe, uint32_t value);

/* From here on paths may lead to other files than before. */
void ftr_modules_look_again(struct ftr_modules *modules);

/* What they are made of (choice) has changed, for images that run and those to come. */
void ftr_modules_renew(struct ftr_modules *modules);

/* Record from here on, or do not, in all processes. */
void ftr_modules_trace(struct ftr_modules *modules, bool is_on);

/* Is it of interest which libraries the program image at @path loads? */
bool ftr_modules_asks_libraries(struct ftr_modules *modules, const char *path);

/* The program image at @path has the library at @library loaded when it starts. */
void ftr_modules_loads(struct ftr_modules *modules, const char *path, const char *library);

/* Make sections of the image or library at @path that take long, before it waits for them. */
void ftr_modules_prepare(struct ftr_modules *modules, const char *path, bool is_image);

/*
 * The sections of the program image or library at @path, made once a generation.  (borrowed)
 * Negative: there is nothing to send.
 */
int ftr_modules_sections_fd(struct ftr_modules *modules, const char *path, bool is_image);

/* Has the compiler left room for calls in the module at @path? */
bool ftr_modules_has_sites(struct ftr_modules *modules, const char *path);

/* Will the tasks of the program image at @path record anything? */
bool ftr_modules_is_traced(struct ftr_modules *modules, const char *path);

/*
 * Look at the file of @path unless that was done before.  @is_wanted: its symbols are needed even
 * if it is not instrumented.  Returns its build-id in hex, "" = none; (borrowed) for good.
 */
const char *ftr_modules_add(struct ftr_modules *modules, const char *path, bool is_wanted);

/* Write the symbols of wanted files that was not done for yet, or start a helper for it. */
void ftr_modules_store(struct ftr_modules *modules, struct ftr_uftrace_dir *dir);

/* What readers are told of the values of those that was done for has grown (told.h). */
void ftr_modules_retell(struct ftr_modules *modules, struct ftr_uftrace_dir *dir);

/* Wait for the helpers, and release. */
void ftr_modules_fini(struct ftr_modules *modules);

#endif /* FTR_RECORD_MODULES_H */
