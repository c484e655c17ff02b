/* SPDX-License-Identifier: MIT */
/*
 * Sections that the recorder handed out (utils/proto/sections.h) about the program's image and its
 * libraries.  It may replace them at any time.
 *
 * They are published with one release store and never unmapped afterwards: a thread may be
 * stopped anywhere in a hook, for any time, while it reads them.  So a reader takes no lock, and
 * neither a handler that interrupts it nor a replacement disturbs it; it loads the pointer once
 * and sees one whole state.  What is replaced costs a page until the image ends.
 */
#ifndef FTR_LIBMCOUNT_SECTIONS_H
#define FTR_LIBMCOUNT_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "libmcount/state.h"
#include "utils/proto/sections.h"

/* Map the sections in memfd @fd, and close it; NULL when there is no memory or they are damaged. */
const struct ftr_sections *ftr_sections_map(int fd) __attribute__((visibility("hidden")));
void ftr_sections_unmap(const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

/* The body of the section of @kind, inside the mapping; NULL = there is none. */
const void *ftr_sections_find(const struct ftr_sections *sections, enum ftr_section_kind kind,
			      uint32_t *bytes) __attribute__((visibility("hidden")));

/* FTR_SWITCH_* flags of @probe; 0 when @sections (nullable) do not name it. */
uint32_t ftr_sections_switch(const struct ftr_sections *sections, const char *probe)
	__attribute__((visibility("hidden")));

/* Publish @sections (nullable, given away) as the image's. */
void ftr_sections_publish(const struct ftr_sections *sections)
	__attribute__((visibility("hidden")));

static inline const struct ftr_sections *ftr_sections_image(void)
{
	return atomic_load_explicit(&ftr_state.image_sections, memory_order_acquire);
}

/* Are any switch's FTR_SWITCH_* flags of @flags set? */
bool ftr_sections_any_switch(const struct ftr_sections *sections, uint32_t flags)
	__attribute__((visibility("hidden")));

/* Are they the same, byte for byte? */
bool ftr_sections_are_equal(const struct ftr_sections *one, const struct ftr_sections *other)
	__attribute__((visibility("hidden")));

/* Ask the recorder for the sections of the image and of libraries, and publish them. */
void ftr_sections_refresh_slow(void) __attribute__((visibility("hidden")));

/*
 * Take over what the recorder has replaced since the last time.  It makes system calls then, so it
 * is called only where a thread has left the common path anyway: at its first call, and at one into
 * another module than its last.
 */
static inline void ftr_sections_refresh(void)
{
	if (ftr_state.control != NULL &&
	    atomic_load_explicit(&ftr_state.control->generation, memory_order_relaxed) !=
		    atomic_load_explicit(&ftr_state.generation, memory_order_relaxed))
		ftr_sections_refresh_slow();
}

#endif /* FTR_LIBMCOUNT_SECTIONS_H */
