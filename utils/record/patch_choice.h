/* SPDX-License-Identifier: MIT */
/* Which functions are patched: what --patch and --unpatch say, for the makers of sections. */
#ifndef FTR_RECORD_PATCH_CHOICE_H
#define FTR_RECORD_PATCH_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/option.h"
#include "utils/object/elf_file.h"
#include "utils/object/symtab.h"
#include "utils/trace/rule.h"

struct ftr_section_module;

#define FTR_OPTION_PATCH "patch"
#define FTR_OPTION_UNPATCH "unpatch"

/* Of the options, which are those of section_patch.c. */
struct ftr_patch_values {
	struct ftr_opt_list given;	/* one of the names above, and its argument */
	bool is_implied;		/* as if --patch=. was given */
	bool keeps_returns;		/* return addresses stay: --estimate-return */
};

/* A check of the options' rows. */
int ftr_patch_option_check(const char *arg, struct ftr_err *err);

/* Those that were given to all makers of @module; NULL = none. */
const struct ftr_patch_values *ftr_patch_values_get(const struct ftr_section_module *module);

/* Of those that were @given to all makers: let programs be patched as --patch=. would. */
void ftr_patch_imply(struct ftr_option_values *given);
/* ... and say that return addresses stay the program's. */
void ftr_patch_keep_returns(struct ftr_option_values *given);

/* Was any --patch given to all makers? */
bool ftr_patch_is_given(const struct ftr_option_values *given);

/* Is there any --patch, or is it implied, among what was given to all makers? */
bool ftr_patch_is_asked_for(const struct ftr_option_values *given);
bool ftr_patch_is_asked(const struct ftr_patch_values *values);
/* ... that names this module?  One that names none is the image's. */
bool ftr_patch_names_module(const struct ftr_patch_values *values, const char *path, bool is_image);

/* Append what the options say: filter is --patch, notrace --unpatch.  0 or -errno, described. */
int ftr_patch_rules_parse(struct ftr_rules *rules, const struct ftr_opt_list *given,
			  struct ftr_err *err);

/*
 * Is it of the machine that programs run on beside this one (32-bit x86), which are not patched?  A
 * note says so of the image.
 */
bool ftr_patch_is_refused(const struct ftr_section_module *module);

struct ftr_patch_choice {
	struct ftr_rules rules;		/* filter: --patch, notrace: --unpatch */
	const char *path;		/* (borrowed) of the module */
	bool is_asked;
};

/* 0 or -ENOMEM; finish it in any case. */
int  ftr_patch_choice_init(struct ftr_patch_choice *choice, const struct ftr_patch_values *values,
			   const char *path);
void ftr_patch_choice_fini(struct ftr_patch_choice *choice);

/* Is the function at @addr (as in the file) with this @symbol (nullable) chosen? */
bool ftr_patch_is_chosen(const struct ftr_patch_choice *choice, const struct ftr_symbol *symbol,
			 uint64_t addr);

/* FTR_PATCH_* flags of utils/proto/patch.h for the module. */
uint32_t ftr_patch_flags(const struct ftr_elf_file *file);

#endif /* FTR_RECORD_PATCH_CHOICE_H */
