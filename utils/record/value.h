/* SPDX-License-Identifier: MIT */
/*
 * Arguments and return values, between three forms: the words of a spec ("arg1/i32%rdi"), what
 * DWARF says (utils/object/signature.h), and the programs that the runtime runs
 * (utils/proto/values.h).
 */
#ifndef FTR_RECORD_VALUE_H
#define FTR_RECORD_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/spec.h"
#include "utils/object/signature.h"
#include "utils/proto/values.h"

/* The value that a spec asks for, by @convention.  0, or -EINVAL: there is no such place. */
int ftr_value_of_spec(const struct ftr_callconv *convention, const struct uft_arg *spec,
		      bool is_retval, struct ftr_parameter *value);

/*
 * Where all arguments are on the stack: put @value, which a prototype has behind others, behind
 * what *stack_bytes says they take.  Elsewhere nothing.
 */
void ftr_value_next_on_stack(const struct ftr_callconv *convention, struct ftr_parameter *value,
			     uint32_t *stack_bytes);

/* What a value takes in a payload that is no string's; not padded. */
uint32_t ftr_value_bytes(const struct ftr_parameter *value);

/* The place of the word at @offset of a value that is in registers or on the stack. */
struct ftr_place ftr_value_word_place(const struct ftr_parameter *value, uint32_t offset);

/* Programs in the making. */
struct ftr_value_programs {
	FTR_VEC(struct ftr_value_op) ops;
	uint32_t first;			/* op of the program that is being made */
	uint32_t bytes;			/* that it makes at least */
};

/* 0 or -ENOMEM. */
int ftr_value_program_begin(struct ftr_value_programs *programs);
/* Append a value: 0, -ENOMEM, or -E2BIG when there is no room for it in a payload. */
int ftr_value_program_add(struct ftr_value_programs *programs, const struct ftr_parameter *value);
/* Append one value of @bytes that the ops in @made make, of which there are some: the same. */
int ftr_value_program_join(struct ftr_value_programs *programs,
			   const struct ftr_value_programs *made, uint32_t bytes);
/* Append an op as it is; @is_last of its value.  0 or -ENOMEM. */
int ftr_value_op_add(struct ftr_value_programs *programs, enum ftr_value_what what,
		     const struct ftr_place *place, uint32_t bytes, bool is_last);
/* Its index to *index; 0 when it has no values.  0 or -ENOMEM. */
int ftr_value_program_end(struct ftr_value_programs *programs, uint32_t *index);

/*
 * Its words in a NAME.dbg.  Arguments are counted in @integers and @floats, zero at the first.
 * @enum_name is that of its enumeration there, NULL: it has none that can be told, or is none.
 */
struct ftr_value_counters {
	const struct ftr_callconv *convention;
	unsigned integers, floats;
};
void ftr_value_arg_words(const struct ftr_parameter *value, struct ftr_value_counters *counters,
			 const char *enum_name, struct ftr_strbuf *text);
void ftr_value_retval_words(const struct ftr_parameter *value, const char *enum_name,
			    struct ftr_strbuf *text);

#endif /* FTR_RECORD_VALUE_H */
