/* SPDX-License-Identifier: MIT */
/*
 * What is mapped in observed processes, as far as stacks need it: where each module lies, its
 * unwind information, and its functions.  Modules are kept for all processes together.
 */
#ifndef FTR_OBSERVE_SPACE_H
#define FTR_OBSERVE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/object/symtab.h"
#include "utils/observe/tracee.h"

#define FTR_SPACE_PAGE 4096u

/* As in .eh_frame_hdr: where a function begins, and what .eh_frame has of it. */
struct ftr_space_entry {
	int32_t start, frame;		/* from table->from */
};

/*
 * The table of .eh_frame_hdr, or one that was made of .eh_frame, as static programs need it;
 * addresses count from the module's first mapping.
 */
struct ftr_space_table {
	uint64_t from;			/* what entries count from: the header */
	uint64_t entries;		/* where they are, unless they are made */
	uint64_t nr;			/* 0 = there is no table */
	struct ftr_space_entry *made;	/* (owned, nullable) */
};

struct ftr_elf_file;

struct ftr_space_module {
	char *path;			/* (owned) as the kernel names it */
	unsigned device_major, device_minor;
	uint64_t inode;
	bool is_looked_at;		/* table is filled */
	bool has_symbols;		/* ... tab */
	bool is_of_file;		/* its memory is what the file has: no process is needed */
	struct ftr_elf_file *file;	/* (owned, nullable) of such a one, once it was read */
	struct ftr_space_table table;
	struct ftr_symtab tab;
	struct ftr_hashmap pages;	/* number from its first mapping -> (owned) its bytes */
};

struct ftr_space_range {
	uint64_t start, end;
	uint64_t base;			/* of its module's first mapping here */
	struct ftr_space_module *module;	/* (borrowed) of all spaces */
	bool is_code, is_constant;	/* ... and not written to */
};

struct ftr_space_modules {
	FTR_VEC(struct ftr_space_module *) all;	/* (owned) */
};

/* Of a process and those that it forked and that have not changed theirs. */
struct ftr_space {
	unsigned users;
	bool is_stale;			/* a library may have been mapped since */
	uint64_t unknown_ip;		/* not in it when it was last read */
	struct ftr_strbuf maps;		/* /proc/PID/maps as it was read */
	FTR_VEC(struct ftr_space_range) ranges;	/* by address */
	struct ftr_hashmap frames;	/* ip -> its number: stack.c */
	void *unwinder;			/* (owned, nullable) of unwind_libunwind.c */
};

void ftr_space_modules_fini(struct ftr_space_modules *modules);

struct ftr_space *ftr_space_new(void);
/* One user less. */
void ftr_space_drop(struct ftr_space *space);

/* Read what @tracee has mapped: true = it is something else than before. */
bool ftr_space_load(struct ftr_space *space, struct ftr_space_modules *modules,
		    const struct ftr_tracee *tracee);

/*
 * The file @path is mapped from @start on, to @end (0: as far as it says itself), in a process that
 * may be gone when something of it is asked for.  What was known there is forgotten.  0, -ENOMEM,
 * or another -errno: it cannot be read.
 */
int ftr_space_map(struct ftr_space *space, struct ftr_space_modules *modules, uint64_t start,
		  uint64_t end, const char *path);

/*
 * NULL = nothing that is known lies there.  Below, @tracee is NULL where all modules are of files.
 */
const struct ftr_space_range *ftr_space_find(const struct ftr_space *space, uint64_t addr);

/* The table of a module, looked at once. */
const struct ftr_space_table *ftr_space_table(const struct ftr_space_range *range,
					      const struct ftr_tracee *tracee);

/* A word of constant memory.  False: it cannot be read. */
bool ftr_space_read(const struct ftr_space_range *range, const struct ftr_tracee *tracee,
		    uint64_t addr, uint64_t *word);

/* The symbol at @offset from the module's first mapping, or NULL. */
const struct ftr_symbol *ftr_space_symbol(struct ftr_space_module *module,
					  const struct ftr_tracee *tracee, uint64_t offset);

#endif /* FTR_OBSERVE_SPACE_H */
