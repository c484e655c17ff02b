/* SPDX-License-Identifier: MIT */
/*
 * The modules whose functions are called: the recorder learns of those that came after the start.
 */
#ifndef FTR_LIBMCOUNT_MODULE_H
#define FTR_LIBMCOUNT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/state.h"

struct ftr_mapping;
struct ftr_sections;

/* What the recorder finds mapped at the start need not be reported; called by the constructor. */
void ftr_module_start(void) __attribute__((visibility("hidden")));

/*
 * @func is outside the module of this thread's last call, or modules have come or gone since: find
 * its module, report it when it is new, and remember it for the thread.
 */
void ftr_module_check(struct ftr_thread *self, uintptr_t func)
	__attribute__((visibility("hidden")));

/* A module as the recorder is asked about it. */
struct ftr_module_name {
	uintptr_t base;			/* its lowest address */
	const char *path;		/* (borrowed) no NUL */
	uint32_t path_bytes;		/* 0 = the program's image */
	bool is_known;			/* to the recorder: it only wants its sections */
};

/*
 * Send MODULE.  *@sections (nullable: they are not wanted) are what came back, mapped, to be given
 * to ftr_sections_unmap; NULL = there are none.  0 or -errno.
 */
int ftr_module_ask(const struct ftr_module_name *module, const struct ftr_sections **sections)
	__attribute__((visibility("hidden")));

/*
 * The published sections of the module that @addr lies in, and (nullable) the address that their
 * offsets count from, where the page of its first mapping begins; NULL = none.
 */
const struct ftr_sections *ftr_module_sections(uintptr_t addr, uintptr_t *base)
	__attribute__((visibility("hidden")));

/* Publish @sections (given away) as those of the library at @low. */
void ftr_module_publish(uintptr_t low, const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/*
 * The recorder has replaced sections: ask about each library that has any, or with @all about each
 * that is known.  Called by one thread at a time.
 */
void ftr_modules_refresh(bool all) __attribute__((visibility("hidden")));

/*
 * Look up what is mapped at module->base and name it: path, which stays in @mapping, and whether
 * the recorder knows it.  It counts as reported from then on.  False: that is no file.
 */
bool ftr_module_look(struct ftr_module_name *module, struct ftr_mapping *mapping)
	__attribute__((visibility("hidden")));

static inline bool ftr_module_is_known(const struct ftr_thread *self, uintptr_t func)
{
	return func - self->module_low < self->module_bytes &&
	       self->module_generation == atomic_load_explicit(&ftr_state.module_generation,
							       memory_order_relaxed);
}

#endif /* FTR_LIBMCOUNT_MODULE_H */
