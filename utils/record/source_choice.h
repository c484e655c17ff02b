/* SPDX-License-Identifier: MIT */
/* Are rules about source files (-L) about any that a program has functions of? */
#ifndef FTR_RECORD_SOURCE_CHOICE_H
#define FTR_RECORD_SOURCE_CHOICE_H

#include "utils/base/err.h"
#include "utils/object/symtab.h"
#include "utils/trace/rule.h"

struct ftr_linked;

/*
 * Has the program @image, of the symbols @tab, or an instrumented one of the libraries that it is
 * linked with, a function of a source file that the rule matches?  0, or -ENOENT with what to do
 * and a name that is near.
 */
int ftr_source_match(const struct ftr_rule *rule, const char *image, const struct ftr_symtab *tab,
		     const struct ftr_linked *linked, struct ftr_err *err);

#endif /* FTR_RECORD_SOURCE_CHOICE_H */
