/* SPDX-License-Identifier: MIT */
/* -W: what the runtime is to look at when calls begin and end: "cpu", "var:NAME". */
#ifndef FTR_RECORD_WATCHED_H
#define FTR_RECORD_WATCHED_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/base/option.h"
#include "utils/object/symtab.h"

/* Is @arg one of these?  0 or -EINVAL, described. */
int ftr_watched_word_check(const char *arg, struct ftr_err *err);

bool ftr_watched_has_cpu(const struct ftr_opt_list *watched);

/* The variable of @word, "var:NAME", in the module of @tab; NULL = none, or @word is "cpu". */
const struct ftr_symbol *ftr_watched_variable(const char *word, const struct ftr_symtab *tab);

/*
 * Are all variables there, in the program @image, of a size that can be looked at, and not too
 * many?  0, -ENOENT or -EINVAL with the reason.
 */
int ftr_watched_check(const struct ftr_opt_list *watched, const char *image,
		      const struct ftr_symtab *tab, struct ftr_err *err);

#endif /* FTR_RECORD_WATCHED_H */
