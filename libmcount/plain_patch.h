/* SPDX-License-Identifier: MIT */
/*
 * Code that has no room for a call: instructions run elsewhere, behind a call of ours, and a jump
 * leads there (utils/proto/plain.h).
 */
#ifndef FTR_LIBMCOUNT_PLAIN_PATCH_H
#define FTR_LIBMCOUNT_PLAIN_PATCH_H

#include "libmcount/probe.h"

/*
 * Do what the section of @kind says about the module.  @what: of what, in messages, "function".
 * True: something was written, other than when a module is shown again; where the program was
 * attached to, it is planned, or was.
 */
bool ftr_plain_patch(const struct ftr_loaded *module, const struct ftr_sections *sections,
		     enum ftr_section_kind kind, const char *what)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PLAIN_PATCH_H */
