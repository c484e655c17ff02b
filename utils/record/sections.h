/* SPDX-License-Identifier: MIT */
/*
 * The sections that the runtime gets about a module (utils/proto/sections.h).  A maker is the
 * recorder's half of a probe: its switch, its options, and the body of its section.  One const
 * struct per maker at the end of section_NAME.c, listed in sections.def.
 */
#ifndef FTR_RECORD_SECTIONS_H
#define FTR_RECORD_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/option.h"
#include "utils/base/strbuf.h"
#include "utils/proto/sections.h"

struct ftr_arena;
struct ftr_elf_info;
struct ftr_info;
struct ftr_named_events;
struct ftr_patch_values;
struct ftr_record_choice;
struct ftr_recording;
struct ftr_rules;
struct ftr_symtab;
struct ftr_uftrace_dir;

/* What signals to the recorder switched; nr 0: nothing yet. */
struct ftr_section_tracing {
	uint32_t nr;
	bool is_off;
};

/* The module that sections are for. */
struct ftr_section_module {
	const char *path;
	const struct ftr_elf_info *elf;	/* zeros when the file cannot be read */
	bool is_image;			/* the program's; else a library */
	uint32_t loaded_hooks;		/* of an image: see library_hooks */
	struct ftr_strbuf *notes;	/* (nullable) lines for -v; those with "!" are warnings */
	const struct ftr_option_values *given; /* (nullable) to all makers */
	const struct ftr_patch_values *patch_values; /* (nullable) instead of those in it */
	const struct ftr_switch *switches; /* as they are now */
	size_t switch_nr;
	const struct ftr_record_choice *choice;	/* (nullable) utils/record/choice.h */
	struct ftr_named_events *events; /* (nullable) utils/record/named_events.h */
	struct ftr_section_tracing tracing;
};

/* Members that a maker has no use for are NULL; @values are those of its options, NULL = none. */
struct ftr_section_maker {
	const char *name;		/* of the owner of its options */
	enum ftr_section_kind kind;	/* 0: there is only a switch */
	const char *probe;		/* the runtime's, that reads it and is switched by it */

	const struct ftr_option *options;
	size_t values_bytes;
	const void *defaults;		/* (nullable: zeros) */

	/*
	 * Put what its options choose into @choice, whose rules are @rules; then check what there
	 * is of its own.  0, -EINVAL with the reason, or -ENOMEM.
	 */
	int (*choose)(struct ftr_record_choice *choice, struct ftr_rules *rules,
		      const void *values, struct ftr_err *err);
	int (*check)(const struct ftr_record_choice *choice, struct ftr_err *err);
	/* Does it record from programs that are not instrumented? */
	bool (*takes_any)(const void *values);
	/* Are the symbols of all modules needed, called or not? */
	bool (*names_all)(const void *values);
	/* The probe's FTR_SWITCH_* flags when the recording starts. */
	uint32_t (*flags)(const struct ftr_recording *recording, const void *values);
	/* The flags that @module gets, of the @value that the switch has (nullable: that). */
	uint32_t (*narrow)(const struct ftr_section_module *module, const void *values,
			   uint32_t value);
	/*
	 * Is it a reason to send sections about the module?  NULL: no, but its body is among those
	 * that are sent for another reason.
	 */
	bool (*is_wanted)(const struct ftr_section_module *module, const void *values);
	bool has_records;		/* where it is wanted, tasks will record */
	/*
	 * The FTR_ELF_HOOK_* bits that the image @module gets something else for when one of the
	 * libraries loaded with it has them: loaded_hooks.  Looking takes time that it waits.
	 */
	uint32_t (*library_hooks)(const struct ftr_section_module *module, const void *values);
	bool is_slow;			/* it is made for the image before the program starts */
	uint64_t feature;		/* FTR_FEATURE_* bit of recordings with its probe */
	/* Tell the readers of the data what is recorded, in @arena.  0 or -ENOMEM. */
	int (*info)(struct ftr_info *info, const struct ftr_record_choice *choice,
		    struct ftr_arena *arena);
	/* Append lines of the module's NAME.dbg; of two about one function the later counts. */
	void (*debug)(const struct ftr_section_module *module, const struct ftr_symtab *tab,
		      struct ftr_strbuf *text);
	/* Append the body, an empty one is left out.  0 or -errno. */
	int (*make)(const struct ftr_section_module *module, const void *values,
		    struct ftr_strbuf *body);
};

/* Iterate over sections.def: *pos starts at 0; NULL at the end. */
const struct ftr_section_maker *ftr_section_maker_next(size_t *pos);
ftr_option_set_fn ftr_section_options;

/* Its values among those that were @given (nullable) to all makers; NULL = it has none. */
const void *ftr_section_values(const struct ftr_option_values *given,
			       const struct ftr_section_maker *maker);

/* Does @path name a library of the C library, of the unwinder, of a sanitizer, or ours? */
bool ftr_section_is_base_library(const char *path);

/* FTR_SWITCH_* flags of @probe. */
uint32_t ftr_section_switch(const struct ftr_section_module *module, const char *probe);

/* Does the runtime see calls of the module's functions, or calls to them? */
bool ftr_section_sees_calls(const struct ftr_section_module *module);

/* Let all makers add to @choice what their options choose, and check it: see choose. */
int ftr_sections_choose(struct ftr_record_choice *choice, struct ftr_rules *rules,
			const struct ftr_option_values *given, struct ftr_err *err);
int ftr_sections_check(const struct ftr_record_choice *choice, struct ftr_err *err);
/*
 * Let them tell what readers need, and store it beside the symbols @tab of the module; @is_again:
 * in the place of what was stored.
 */
int ftr_sections_info(struct ftr_info *info, const struct ftr_record_choice *choice,
		      struct ftr_arena *arena);
void ftr_sections_store(const struct ftr_section_module *module, const struct ftr_symtab *tab,
			bool is_again, struct ftr_uftrace_dir *dir);
/* Does any maker that is_slow want the module? */
bool ftr_sections_are_slow(const struct ftr_section_module *module,
			   const struct ftr_option_values *given);
/* Does any maker take programs that are not instrumented? */
bool ftr_sections_take_any(const struct ftr_option_values *given);
/* Does any need the symbols of all modules? */
bool ftr_sections_name_all(const struct ftr_option_values *given);
/* All the bits for which its libraries are to be looked at: see library_hooks. */
uint32_t ftr_sections_library_hooks(const struct ftr_section_module *module,
				    const struct ftr_option_values *given);
/* Does any maker want the module to record, instrumented or not? */
bool ftr_sections_record(const struct ftr_section_module *module,
			 const struct ftr_option_values *given);
/* Is there any reason to send sections? */
bool ftr_sections_are_wanted(const struct ftr_section_module *module,
			     const struct ftr_option_values *given);
/* The memfd with the bodies of all makers that are not unwanted; the descriptor or -errno. */
int ftr_sections_make(const struct ftr_section_module *module,
		      const struct ftr_option_values *given, uint32_t generation);

/* One section to be. */
struct ftr_sections_part {
	enum ftr_section_kind kind;
	const void *bytes;		/* (borrowed) */
	size_t len;			/* 0: the section is left out */
};

/*
 * A sealed memfd of @nr parts, of @generation of the control block.  Returns the descriptor (owned
 * by the caller) or -errno.
 */
int ftr_sections_memfd(const struct ftr_sections_part *parts, unsigned nr, uint32_t generation);

#endif /* FTR_RECORD_SECTIONS_H */
