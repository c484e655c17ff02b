/* SPDX-License-Identifier: MIT */
/* See values_brief.h.  Called inside hooks, so without libc. */
#include "libmcount/values_brief.h"

#include "arch/transaction.h"
#include "arch/values.h"
#include "libmcount/state.h"
#include "libmcount/values_known.h"

#define WORD_BITS 64u
#define LENGTH_BYTES 2u			/* in front of a text */
#define OPS_MAX 8u
static_assert(OPS_MAX * (LENGTH_BYTES + FTR_VALUE_STRING_MAX) + 3 * FTR_BRIEF_WORD_BYTES <=
	      FTR_VALUES_BRIEF_WORDS * FTR_BRIEF_WORD_BYTES, "eight texts of the longest");

static unsigned brief_make(enum ftr_brief_kind kind, unsigned place, unsigned log)
{
	return (unsigned)kind << FTR_BRIEF_KIND_SHIFT | place << FTR_BRIEF_REGISTER_SHIFT | log;
}

/* Where the general register of @op is in struct ftr_regs; -1: it has none. */
static int place_of(const struct ftr_value_op *op)
{
	if (op->where == FTR_VALUE_INTEGER)
		return ftr_arch_argument_place(op->nr);
	return op->where == FTR_VALUE_RETURN ? ftr_arch_retval_place(op->nr) : -1;
}

static unsigned bytes_op(const struct ftr_value_op *op)
{
	unsigned log = (unsigned)__builtin_ctz(op->bytes | FTR_BRIEF_WORD_BYTES);
	int place = place_of(op);

	if (op->bytes != 1u << log)
		return FTR_BRIEF_NONE;
	if (op->where == FTR_VALUE_VECTOR && ftr_arch_has_vector(op->nr))
		return brief_make(FTR_BRIEF_VECTOR, op->nr, log);
	return place < 0 ? FTR_BRIEF_NONE : brief_make(FTR_BRIEF_INTEGER, (unsigned)place, log);
}

/* One of 8 bytes of which the register has the first 1 or 4, as enumerations are, and bool. */
static bool is_wide(const struct ftr_value_op *op)
{
	const struct ftr_value_op *rest = op + 1;

	return op->what == FTR_VALUE_BYTES && place_of(op) >= 0 &&
	       (op->bytes == FTR_BRIEF_WIDE_1_BYTES || op->bytes == FTR_BRIEF_WIDE_4_BYTES) &&
	       rest->what == FTR_VALUE_BYTES && rest->where == FTR_VALUE_NOWHERE &&
	       (rest->flags & FTR_VALUE_JOINED) == 0 &&
	       op->bytes + rest->bytes == FTR_BRIEF_WORD_BYTES;
}

/* The value at @op, which is of *nr ops. */
static unsigned brief_op(const struct ftr_value_op *op, unsigned *nr)
{
	int place = place_of(op);

	*nr = 1;
	if ((op->flags & FTR_VALUE_JOINED) != 0) {
		*nr = 2;
		return !is_wide(op) ? FTR_BRIEF_NONE :
			brief_make(FTR_BRIEF_TEXT, (unsigned)place,
				   op->bytes == FTR_BRIEF_WIDE_1_BYTES ? FTR_BRIEF_WIDE_1 :
									 FTR_BRIEF_WIDE_4);
	}
	if (op->what == FTR_VALUE_BYTES)
		return bytes_op(op);
	if (place < 0)
		return FTR_BRIEF_NONE;
	if (op->what == FTR_VALUE_STRING)
		return brief_make(FTR_BRIEF_TEXT, (unsigned)place, FTR_BRIEF_CHARACTERS);
	if (op->what == FTR_VALUE_STD_STRING)
		return brief_make(FTR_BRIEF_TEXT, (unsigned)place, FTR_BRIEF_STD_STRING);
	return FTR_BRIEF_NONE;
}

uint64_t ftr_values_brief(const struct ftr_value_op *program)
{
	uint64_t brief = 0;
	unsigned i, op, nr;

	for (i = 0; program != NULL && program->what != FTR_VALUE_END; i++) {
		op = brief_op(program, &nr);
		if (i == OPS_MAX || op == FTR_BRIEF_NONE)
			return 0;
		brief |= (uint64_t)op << FTR_BRIEF_BITS * i;
		program += nr;
	}
	return brief;
}

/* At any address. */
struct characters {
	uint64_t all;
} __attribute__((packed, may_alias));

/*
 * Eight characters, of which @known are known to be there: those behind them are no NUL.  They may
 * be another object's, or nobody's.
 */
__attribute__((no_sanitize("address")))
static inline uint64_t characters_load(uintptr_t address, uintptr_t known)
{
	uint64_t characters = UINT64_MAX;
	unsigned i;

	/* What shares a page with what is there is there. */
	if (likely(known >= FTR_BRIEF_WORD_BYTES || address % FTR_VALUES_PAGE_BYTES <=
						  FTR_VALUES_PAGE_BYTES - FTR_BRIEF_WORD_BYTES))
		return ((const volatile struct characters *)address)->all;
	for (i = 0; i < known; i++)
		characters = (characters & ~(UINT64_C(0xff) << 8 * i)) |
			     (uint64_t)*(const volatile uint8_t *)(address + i) << 8 * i;
	return characters;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The lowest bit that is set is the highest bit of the first byte that is 0. */
static inline uint64_t zeros_of(uint64_t characters)
{
	return (characters - EACH_BYTE) & ~characters & EACH_BYTE << 7;
}

/* A text: its characters, of which @known are known to be there, @nr at most. */
struct text {
	uintptr_t address, known;
	uint64_t nr;
};

/* The characters of it that are looked at, from @i on, where not all of a word are its own. */
static inline uint64_t characters_last(const struct text *text, uint64_t i)
{
	uint64_t characters = characters_load(text->address + i, text->known - i);

	if (unlikely(text->nr - i < FTR_BRIEF_WORD_BYTES))
		characters &= (UINT64_C(1) << 8 * (text->nr - i)) - 1;
	return characters;
}

/*
 * Append what of it is before the first NUL, its characters from the bit @shift of a word on.
 * False: it does not end within what is known, or is one to be cut.
 */
static inline __attribute__((always_inline)) bool text_put_at(struct ftr_brief_words *words,
							      const struct text *text,
							      const uint32_t shift)
{
	uint64_t *first = &words->words[words->at / FTR_BRIEF_WORD_BYTES], *to = first;
	uint64_t carry = words->begun, whole = FTR_VALUE_STRING_MAX, characters, zeros, i, len;

	whole = text->known < whole ? text->known : whole;
	whole = (text->nr < whole ? text->nr : whole) & ~(uint64_t)(FTR_BRIEF_WORD_BYTES - 1);
	for (i = 0;; i += FTR_BRIEF_WORD_BYTES) {
		if (likely(i < whole)) {
			characters = characters_load(text->address + i, FTR_BRIEF_WORD_BYTES);
		} else {
			if (unlikely(i >= text->known || i > FTR_VALUE_STRING_MAX))
				return false;
			characters = characters_last(text, i);
		}
		zeros = zeros_of(characters);
		if (zeros != 0)
			break;
		*to++ = carry | characters << shift;
		carry = characters >> (WORD_BITS - shift);
	}
	len = i + (uint64_t)__builtin_ctzll(zeros) / 8;
	if (unlikely(len > FTR_VALUE_STRING_MAX))
		return false;
	characters &= ((zeros & -zeros) >> 7) - 1;	/* none of what is behind the NUL */
	to[0] = carry | characters << shift;
	to[1] = characters >> (WORD_BITS - shift);
	to[2] = 0;
	*first |= len << (shift - LENGTH_BYTES * 8);
	words->at += (LENGTH_BYTES + (uint32_t)len + FTR_VALUE_ALIGN - 1) &
		     ~(FTR_VALUE_ALIGN - 1);
	words->begun = words->words[words->at / FTR_BRIEF_WORD_BYTES];
	return true;
}

/* Twice, so that a word is shifted by what the compiler knows. */
static inline __attribute__((always_inline)) bool text_put(struct ftr_brief_words *words,
							   const struct text *text)
{
	return words->at % FTR_BRIEF_WORD_BYTES == 0 ?
		       text_put_at(words, text, 8 * LENGTH_BYTES) :
		       text_put_at(words, text, 8 * (LENGTH_BYTES + FTR_VALUE_ALIGN));
}

/* Where values of a call may lead. */
struct around {
	const struct ftr_values_programs *programs;
	const uintptr_t *slot;
	uintptr_t stack_high;
};

static inline uintptr_t known_at(const struct around *around, uintptr_t address)
{
	const struct ftr_values_programs *programs = around->programs;
	uintptr_t known;

	known = ftr_values_known_stack(around->slot, around->stack_high, address);

	if (known == 0)
		known = ftr_values_known_constant(programs->values, programs->base, address);
	if (known == 0 && programs->image != NULL)
		known = ftr_values_known_constant(programs->image, ftr_state.known[0].low, address);
	return known;
}

static const char null[] = "NULL";

/* What is said of a pointer to nothing; and nothing, which needs no pointer. */
static __attribute__((noinline, cold)) struct text text_without(uint64_t nr)
{
	const char *said = nr == 0 ? &null[sizeof(null) - 1] : null;

	return (struct text){ (uintptr_t)said, nr == 0 ? 1 : sizeof(null), UINT64_MAX };
}

static inline struct text text_at(const struct around *around, uintptr_t address, uint64_t nr)
{
	if (unlikely(address == 0 || nr == 0))
		return text_without(nr);
	return (struct text){ address, known_at(around, address), nr };
}

/* The two words of a std::string: characters, their number.  False: they cannot be had. */
static inline bool std_string_read(const struct around *around, uintptr_t address,
				   uint64_t words[2])
{
	const volatile uint64_t *object = (const volatile uint64_t *)address;
	bool is_known = likely(known_at(around, address) >= 2 * sizeof(*object));

	if (!is_known && (!ftr_state.has_transactions || !ftr_arch_transaction_begin()))
		return false;
	words[0] = object[0];
	words[1] = object[1];
	if (!is_known)
		ftr_arch_transaction_end();
	return true;
}

/* Where nothing is known: in a transaction, which ends where there is nothing. */
static __attribute__((noinline)) bool text_put_unknown(struct ftr_brief_words *words,
						       struct text text)
{
	bool is_put;

	if (!ftr_state.has_transactions || !ftr_arch_transaction_begin())
		return false;
	text.known = FTR_VALUE_STRING_MAX + 1;
	is_put = text_put(words, &text);
	ftr_arch_transaction_end();
	return is_put;
}

static inline bool text_add(struct ftr_brief_words *words, const struct around *around,
			    uintptr_t address, unsigned log)
{
	uint64_t object[2] = { address, UINT64_MAX };
	struct text text;

	if (log == FTR_BRIEF_STD_STRING && address != 0 &&
	    !std_string_read(around, address, object))
		return false;
	text = text_at(around, object[0], object[1]);
	return likely(text.known != 0) ? text_put(words, &text) : text_put_unknown(words, text);
}

uint32_t ftr_values_run_brief(uint64_t brief, const struct ftr_values_programs *programs,
			      const struct ftr_call *call, uint64_t words[FTR_VALUES_BRIEF_WORDS])
{
	struct ftr_brief_words made = { .words = words };
	struct around around = { programs, call->slot,
				 ftr_values_stack_end(&ftr_self, call->slot) };

	for (; brief != 0; brief >>= FTR_BRIEF_BITS) {
		unsigned place = brief >> FTR_BRIEF_REGISTER_SHIFT & FTR_BRIEF_REGISTER_MASK;
		unsigned log = brief & FTR_BRIEF_LOG_MASK;
		enum ftr_brief_kind kind = brief >> FTR_BRIEF_KIND_SHIFT & FTR_BRIEF_LOG_MASK;
		bool is_put = true;

		if (likely(kind == FTR_BRIEF_INTEGER))
			ftr_brief_register_put(&made, ftr_brief_register(call->regs, place), log);
		else if (kind == FTR_BRIEF_VECTOR)
			ftr_brief_register_put(&made, ftr_arch_vector(place), log);
		else if (log >= FTR_BRIEF_WIDE_1)
			ftr_brief_wide_put(&made, ftr_brief_register(call->regs, place), log);
		else
			is_put = text_add(&made, &around, ftr_brief_register(call->regs, place),
					  log);
		if (unlikely(!is_put))
			return 0;
	}
	return ftr_brief_end(&made);
}

uint32_t ftr_values_run_quick(uint64_t brief, const struct ftr_values_quick *quick,
			      const struct ftr_regs *regs, uint64_t words[FTR_VALUES_BRIEF_WORDS])
{
	struct ftr_brief_words made = { .words = words };

	for (; brief != 0; brief >>= FTR_BRIEF_BITS) {
		unsigned log = brief & FTR_BRIEF_LOG_MASK;
		enum ftr_brief_kind kind = brief >> FTR_BRIEF_KIND_SHIFT & FTR_BRIEF_LOG_MASK;
		unsigned place = brief >> FTR_BRIEF_REGISTER_SHIFT & FTR_BRIEF_REGISTER_MASK;
		uint64_t word = kind == FTR_BRIEF_VECTOR ? 0 : ftr_brief_register(regs, place);
		struct text text = { word, quick->literals + quick->literal_bytes - word,
				     UINT64_MAX };

		if (likely(kind == FTR_BRIEF_INTEGER))
			ftr_brief_register_put(&made, word, log);
		else if (kind == FTR_BRIEF_VECTOR)
			ftr_brief_register_put(&made, ftr_arch_vector(place), log);
		else if (kind == FTR_BRIEF_TEXT && log >= FTR_BRIEF_WIDE_1)
			ftr_brief_wide_put(&made, word, log);
		else if (kind != FTR_BRIEF_TEXT || log != FTR_BRIEF_CHARACTERS ||
			 text.known - 1 >= quick->literal_bytes || !text_put(&made, &text))
			return 0;
	}
	return ftr_brief_end(&made);
}
