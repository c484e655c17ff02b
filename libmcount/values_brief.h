/* SPDX-License-Identifier: MIT */
/*
 * Programs of values that are brief: up to eight integers, floats, texts and std::strings, each of
 * them in a register.  They are most of those that there are.  What such a program does is kept as
 * one word, a byte an op, and its payload is made of whole words: no op is looked at, no byte is
 * stored that is loaded as a part of a word, and memory is read without a check of each part.
 */
#ifndef FTR_LIBMCOUNT_VALUES_BRIEF_H
#define FTR_LIBMCOUNT_VALUES_BRIEF_H

#include "arch/regs.h"
#include "libmcount/thread.h"
#include "libmcount/values.h"
#include "utils/proto/values.h"

/* The most that is made of any, with what stands behind it: see ftr_record_put_words. */
#define FTR_VALUES_BRIEF_WORDS 104u

/* @program (nullable) as a word; 0: it is not brief. */
uint64_t ftr_values_brief(const struct ftr_value_op *program)
	__attribute__((visibility("hidden")));

/*
 * The payload of @call by @brief of @programs, to @words.  Returns its bytes, a multiple of 8,
 * behind which there are two words of zeros.  0: something of it can be had by ftr_values_run
 * alone, as what a pointer leads to that is not known to be there.
 */
uint32_t ftr_values_run_brief(uint64_t brief, const struct ftr_values_programs *programs,
			      const struct ftr_call *call, uint64_t words[FTR_VALUES_BRIEF_WORDS])
	__attribute__((visibility("hidden")));

#define FTR_BRIEF_WORD_BYTES 8u

/*
 *	7	 6 5	     2 1	   0
 *	+---------+------------+--------------+
 *	|  kind	  |  register  | log2 of bytes|
 *	+---------+------------+--------------+
 */
enum ftr_brief_kind {
	FTR_BRIEF_NONE = 0,			/* behind the last */
	FTR_BRIEF_INTEGER = 1,		/* of a register, by its place in struct ftr_regs */
	FTR_BRIEF_VECTOR = 2,
	FTR_BRIEF_TEXT = 3,		/* and all others: log2 says what */
};
#define FTR_BRIEF_CHARACTERS 0u
#define FTR_BRIEF_STD_STRING 1u		/* ... both of a pointer */
#define FTR_BRIEF_WIDE_1 2u		/* 8 bytes, of which the register has but the first */
#define FTR_BRIEF_WIDE_4 3u		/* ... the first four */
#define FTR_BRIEF_WIDE_1_BYTES 1u
#define FTR_BRIEF_WIDE_4_BYTES 4u
#define FTR_BRIEF_REGISTER_SHIFT 2
#define FTR_BRIEF_KIND_SHIFT 6
#define FTR_BRIEF_REGISTER_MASK 15u
#define FTR_BRIEF_LOG_MASK 3u
#define FTR_BRIEF_BITS 8

/* The payload while it grows. */
struct ftr_brief_words {
	uint64_t *words;
	uint64_t begun;			/* the word at @at, as far as there is any of it */
	uint32_t at;			/* in bytes, a multiple of FTR_VALUE_ALIGN */
};

/* @bytes: 4 or 8, and @value has no others. */
static inline void ftr_brief_value_put(struct ftr_brief_words *words, uint64_t value,
				       uint32_t bytes)
{
	uint32_t shift = words->at % FTR_BRIEF_WORD_BYTES * 8, at = words->at + bytes;
	uint64_t low = words->begun | value << shift;
	uint64_t high = shift != 0 ? value >> shift : 0;	/* shift: 0 or 32 */

	words->words[words->at / FTR_BRIEF_WORD_BYTES] = low;
	words->begun = at / FTR_BRIEF_WORD_BYTES != words->at / FTR_BRIEF_WORD_BYTES ? high : low;
	words->at = at;
}

static inline void ftr_brief_register_put(struct ftr_brief_words *words, uint64_t value,
					  unsigned log)
{
	uint32_t bytes = 1u << log;

	if (bytes < FTR_BRIEF_WORD_BYTES)
		value &= (UINT64_C(1) << 8 * bytes) - 1;
	ftr_brief_value_put(words, value, bytes < FTR_VALUE_ALIGN ? FTR_VALUE_ALIGN : bytes);
}

static inline void ftr_brief_wide_put(struct ftr_brief_words *words, uint64_t value, unsigned log)
{
	ftr_brief_value_put(words, log == FTR_BRIEF_WIDE_1 ? (uint8_t)value : (uint32_t)value,
			    FTR_BRIEF_WORD_BYTES);
}

static inline uint64_t ftr_brief_register(const struct ftr_regs *regs, unsigned place)
{
	return ((const uint64_t *)regs)[place];
}

/* The bytes that there are, a multiple of 8, and two words of zeros behind them. */
static inline uint32_t ftr_brief_end(struct ftr_brief_words *words)
{
	if (words->at % FTR_BRIEF_WORD_BYTES != 0)
		ftr_brief_value_put(words, 0, FTR_VALUE_ALIGN);
	words->words[words->at / FTR_BRIEF_WORD_BYTES] = 0;
	words->words[words->at / FTR_BRIEF_WORD_BYTES + 1] = 0;
	return words->at;
}

/* Are all of them integers (FTR_BRIEF_INTEGER), so that nothing but registers is needed? */
static inline bool ftr_brief_is_integers(uint64_t brief)
{
	return brief != 0 && (brief & UINT64_C(0x8080808080808080)) == 0;
}

/* Is none of them a std::string, which ftr_values_run_quick does not read? */
static inline bool ftr_brief_is_quick(uint64_t brief)
{
	uint64_t texts = brief & brief << 1, strings = brief << 7 & ~(brief << 6);

	return (texts & strings & UINT64_C(0x8080808080808080)) == 0;
}

/* ftr_values_run_brief of integers. */
static inline uint32_t ftr_brief_integers(uint64_t brief, const struct ftr_regs *regs,
					  uint64_t words[FTR_VALUES_BRIEF_WORDS])
{
	struct ftr_brief_words made = { .words = words };

	for (; brief != 0; brief >>= FTR_BRIEF_BITS)
		ftr_brief_register_put(&made,
				       ftr_brief_register(regs, brief >> FTR_BRIEF_REGISTER_SHIFT &
									FTR_BRIEF_REGISTER_MASK),
				       brief & FTR_BRIEF_LOG_MASK);
	return ftr_brief_end(&made);
}

/* The same of integers and of characters among the literals: 0 of all others. */
uint32_t ftr_values_run_quick(uint64_t brief, const struct ftr_values_quick *quick,
			      const struct ftr_regs *regs, uint64_t words[FTR_VALUES_BRIEF_WORDS])
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_VALUES_BRIEF_H */
