/* SPDX-License-Identifier: MIT */
/* Events that programs and libraries declare (SDT): which of them --Event names. */
#ifndef FTR_RECORD_SDT_EVENTS_H
#define FTR_RECORD_SDT_EVENTS_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/base/vec.h"
#include "utils/object/elf_file.h"

/* May the word be about such events?  "PROVIDER:NAME", where PROVIDER is not linux. */
bool ftr_sdt_is_word(struct ftr_slice word);

/* Does any of the arguments @given have such a word? */
bool ftr_sdt_is_asked(const struct ftr_opt_list *given);

/* Do any of the options that were @given to all makers of sections have one? */
bool ftr_sdt_is_given(const struct ftr_option_values *given);

/* Does any name @event, "PROVIDER:NAME"? */
bool ftr_sdt_is_chosen(const struct ftr_opt_list *given, const char *event);

/* Where those of a file stand that are chosen, sorted. */
struct ftr_sdt_places {
	FTR_VEC(uint64_t) pcs;
};
int  ftr_sdt_places_load(struct ftr_sdt_places *places, const struct ftr_opt_list *given,
			 const struct ftr_elf_file *file);
void ftr_sdt_places_fini(struct ftr_sdt_places *places);	/* zeroed is fine */

/* Does any stand where the first instructions of the function at @addr are moved? */
bool ftr_sdt_is_at_entry(const struct ftr_sdt_places *places, uint64_t addr);

/*
 * Does each name an event of the program @image, or of a library that it is linked with?  0;
 * 1: not each, but the program opens libraries itself; -ENOENT or -ENOMEM; with 1 and -ENOENT
 * described.
 */
int ftr_sdt_match(const struct ftr_opt_list *given, const char *image, bool opens_libraries,
		  struct ftr_err *err);

/* Append "PROVIDER:NAME", a line each, of @image and the libraries that it is linked with. */
int ftr_sdt_list(const char *image, struct ftr_strbuf *text);

#endif /* FTR_RECORD_SDT_EVENTS_H */
