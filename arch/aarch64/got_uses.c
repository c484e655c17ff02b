/* SPDX-License-Identifier: MIT */
/*
 * What uses the entries of a GOT: slots of the PLT, and what code that has none does with them:
 *
 *	adrp	x1, PAGE
 *	ldr	x1, [x1, #OFFSET]
 *	blr	x1
 *
 * Other instructions may stand between, and either register may be used again much later: both are
 * followed along all ways that the code takes, until something else is in them.
 */
#include "arch/aarch64/got_uses.h"

#include "arch/aarch64/insn.h"
#include "arch/aarch64/patch.h"
#include "utils/base/bits.h"
#include "utils/base/vec.h"

#define PAGE_BYTES UINT64_C(0x1000)
#define ENTRY_BYTES 8u
#define ARGUMENTS 0x000000ffu		/* x0 to x7 */
#define LOST_BY_CALLS 0x4007ffffu	/* x0 to x18, x30 */
#define TAIL_CALLS 0x00030000u		/* x16, x17: by these functions are left */

#define ADRP_MASK 0x9f00001fu		/* with the register */
#define ADRP_X16 0x90000010u
#define LDR_X17_MASK 0xffc003ffu
#define LDR_X17_X16 0xf9400211u		/* ldr x17, [x16, #N] */
#define BR_X17 0xd61f0220u
#define BR_X17_SIGNED 0xd71f0a11u	/* braa x17, x16 */
#define SLOT_WORDS_MAX 6

static bool is_branch(uint32_t word)
{
	return word == BR_X17 || word == BR_X17_SIGNED;
}

/* Words from the adrp at @at up to and with the branch of a PLT slot; 0 = it is none. */
static size_t slot_words(const struct ftr_code *code, size_t at)
{
	size_t i;

	for (i = 2; i < SLOT_WORDS_MAX && at + 4 * i + 4 <= code->size; i++) {
		if (is_branch(ftr_arch_word(code->bytes + at + 4 * i)))
			return i + 1;
	}
	return 0;
}

/*
 * adrp x16; ldr x17, [x16, #N]; add x16; br x17: a PLT slot, with or without bti.  Other code reads
 * entries of its own, which have other relocations: see below.
 */
bool ftr_arch_next_got_use_aarch64(const struct ftr_code *code, uint64_t low, uint64_t high,
				   size_t *pos, struct ftr_got_use *use)
{
	const uint8_t *bytes = code->bytes;
	size_t at = (*pos + 3) / 4 * 4, words;

	for (; at + 12 <= code->size; at += 4) {
		uint32_t adrp = ftr_arch_word(bytes + at), ldr = ftr_arch_word(bytes + at + 4);

		if ((adrp & ADRP_MASK) != ADRP_X16 || (ldr & LDR_X17_MASK) != LDR_X17_X16)
			continue;
		use->entry = ftr_a64_insn(adrp, code->addr + at).address +
			     (uint64_t)(ldr >> 10 & 0xfff) * 8;
		words = slot_words(code, at);
		if (words == 0 || use->entry - low > high - low)
			continue;
		use->at = at;
		if (at >= 4)
			use->at -= ftr_arch_landing_bytes(bytes + at - 4, 4);
		use->bytes = at + 4 * words - use->at;
		use->is_jump = true;
		use->is_call = false;
		use->is_slot = true;
		*pos = at + 4;
		return true;
	}
	return false;
}

/* A register that is followed. */
struct walk {
	FTR_VEC(size_t) pending;	/* instructions yet to be looked at */
	uint32_t *seen;			/* (owned) by instruction: the walk that was there last */
	uint32_t nr;			/* of this walk */
	uint32_t reg;			/* its bit */
	uint64_t value;			/* of a page: its address; of an entry: where that is */
	size_t at;			/* the instruction that loads the entry */
};

struct search {
	const struct ftr_code *code;
	uint64_t low, high;
	ftr_got_use_fn *each;
	void *arg;
	struct walk page, entry;
	bool failed;
};

static uint32_t word_at(const struct search *search, size_t n)
{
	return ftr_arch_word(search->code->bytes + n * FTR_ARCH_INSTRUCTION_BYTES);
}

static size_t insn_nr(const struct search *search)
{
	return search->code->size / FTR_ARCH_INSTRUCTION_BYTES;
}

static void walk_to(struct search *search, struct walk *walk, uint64_t addr)
{
	size_t n = (addr - search->code->addr) / FTR_ARCH_INSTRUCTION_BYTES;

	if (addr - search->code->addr >= search->code->size || n >= insn_nr(search) ||
	    walk->seen[n] == walk->nr)
		return;
	walk->seen[n] = walk->nr;
	if (ftr_vec_push(&walk->pending, n) < 0)
		search->failed = true;
}

static bool walk_next(struct walk *walk, size_t *n)
{
	if (walk->pending.nr == 0)
		return false;
	*n = walk->pending.v[--walk->pending.nr];
	return true;
}

static void walk_begin(struct search *search, struct walk *walk, unsigned reg, size_t first)
{
	walk->pending.nr = 0;
	walk->reg = FTR_BIT(reg);
	walk->nr++;
	walk_to(search, walk, search->code->addr + first * FTR_ARCH_INSTRUCTION_BYTES);
}

/* All that may follow the instruction, in the same section. */
static void walk_on(struct search *search, struct walk *walk, size_t n,
		    const struct ftr_a64_insn *insn)
{
	uint64_t next = search->code->addr + (n + 1) * FTR_ARCH_INSTRUCTION_BYTES;

	switch (insn->kind) {
	case FTR_A64_JUMP:
		walk_to(search, walk, insn->address);
		return;
	case FTR_A64_BRANCH:
	case FTR_A64_COMPARE:
	case FTR_A64_TEST:
		walk_to(search, walk, insn->address);
		break;
	case FTR_A64_JUMP_REGISTER:
	case FTR_A64_RETURN:
	case FTR_A64_TRAP:
		return;
	default:
		break;
	}
	walk_to(search, walk, next);
}

static void tell(struct search *search, size_t n, uint64_t entry, enum ftr_a64_kind kind)
{
	struct ftr_got_use use = {
		.at = n * FTR_ARCH_INSTRUCTION_BYTES,
		.bytes = FTR_ARCH_INSTRUCTION_BYTES,
		.entry = entry,
		.is_jump = kind == FTR_A64_JUMP_REGISTER,
		.is_call = kind == FTR_A64_CALL_REGISTER,
	};

	if (entry - search->low <= search->high - search->low)
		search->each(search->arg, search->code, &use);
}

/* Code outside the section, or on a way that is not known, may look at what is in registers. */
static bool is_left_with(const struct search *search, const struct ftr_a64_insn *insn,
			 uint32_t reg)
{
	switch (insn->kind) {
	case FTR_A64_JUMP:
		return insn->address - search->code->addr >= search->code->size &&
		       (reg & ARGUMENTS) != 0;
	case FTR_A64_CALL:
	case FTR_A64_CALL_REGISTER:
		return (reg & ARGUMENTS) != 0;
	case FTR_A64_RETURN:
		return (reg & LOST_BY_CALLS) != 0;
	case FTR_A64_JUMP_REGISTER:
		return (FTR_BIT(insn->reg) & TAIL_CALLS) == 0 || (reg & ARGUMENTS) != 0;
	default:
		return false;
	}
}

/* One instruction with a function's address in the register; false: it is lost then. */
static bool entry_step(struct search *search, struct walk *walk, size_t n,
		       const struct ftr_a64_insn *insn)
{
	struct ftr_a64_registers registers = ftr_a64_registers(word_at(search, n));
	bool is_call = insn->kind == FTR_A64_CALL || insn->kind == FTR_A64_CALL_REGISTER;

	if ((insn->kind == FTR_A64_CALL_REGISTER || insn->kind == FTR_A64_JUMP_REGISTER) &&
	    FTR_BIT(insn->reg) == walk->reg) {
		tell(search, n, walk->value, (enum ftr_a64_kind)insn->kind);
		return is_call && (walk->reg & LOST_BY_CALLS) == 0;
	}
	/* Whether there is a function at all is the same with a stub. */
	if (((registers.reads & walk->reg) != 0 && insn->kind != FTR_A64_COMPARE) ||
	    is_left_with(search, insn, walk->reg))
		tell(search, walk->at, walk->value, FTR_A64_OTHER);
	return (registers.writes & walk->reg) == 0 &&
	       !(is_call && (walk->reg & LOST_BY_CALLS) != 0);
}

/* Else cbz: either way it is known where there is a function. */
static bool is_cbnz(uint32_t word)
{
	return (word & 0x01000000u) != 0;
}

static void entry_follow(struct search *search, uint64_t entry, unsigned reg, size_t n)
{
	struct walk *walk = &search->entry;

	if (entry - search->low > search->high - search->low)
		return;
	walk->value = entry;
	walk->at = n;
	walk_begin(search, walk, reg, n + 1);
	while (walk_next(walk, &n)) {
		uint64_t addr = search->code->addr + n * FTR_ARCH_INSTRUCTION_BYTES;
		struct ftr_a64_insn insn = ftr_a64_insn(word_at(search, n), addr);

		if (!entry_step(search, walk, n, &insn))
			continue;
		if (insn.kind == FTR_A64_COMPARE && FTR_BIT(insn.reg) == walk->reg)
			insn.kind = is_cbnz(word_at(search, n)) ? FTR_A64_JUMP : FTR_A64_OTHER;
		walk_on(search, walk, n, &insn);
	}
}

/* Whoever has the page's address now may read any entry of it. */
static void page_lost(struct search *search, size_t n)
{
	for (uint64_t at = 0; at < PAGE_BYTES; at += ENTRY_BYTES)
		tell(search, n, search->page.value + at, FTR_A64_OTHER);
}

/* Does the instruction use the page's address as that of something in it alone? */
static bool is_access(uint32_t word, uint32_t reg)
{
	bool is_store = (word & 0x3fc00000u) == 0x39000000u;

	return ((word & 0x3b000000u) == 0x39000000u) && FTR_BIT(word >> 5 & 31) == reg &&
	       !(is_store && FTR_BIT(word & 31) == reg);
}

/* One instruction with a page's address in the register; false: something else is in it then. */
static bool page_step(struct search *search, struct walk *walk, size_t n,
		      const struct ftr_a64_insn *insn)
{
	uint32_t word = word_at(search, n), offset;
	struct ftr_a64_registers registers = ftr_a64_registers(word);
	bool is_call = insn->kind == FTR_A64_CALL || insn->kind == FTR_A64_CALL_REGISTER;
	unsigned to, from;

	if (ftr_a64_is_load(word, &to, &from, &offset) && FTR_BIT(from) == walk->reg)
		entry_follow(search, walk->value + offset, to, n);
	else if (ftr_a64_is_add(word, &to, &from, &offset) && FTR_BIT(from) == walk->reg)
		tell(search, n, walk->value + offset, FTR_A64_OTHER);
	else if ((registers.reads & walk->reg) != 0 && !is_access(word, walk->reg))
		page_lost(search, n);
	else if (insn->kind == FTR_A64_JUMP_REGISTER && (walk->reg & LOST_BY_CALLS) == 0 &&
		 (FTR_BIT(insn->reg) & TAIL_CALLS) == 0)
		page_lost(search, n);
	return (registers.writes & walk->reg) == 0 &&
	       !(is_call && (walk->reg & LOST_BY_CALLS) != 0);
}

static void page_follow(struct search *search, uint64_t page, unsigned reg, size_t n)
{
	struct walk *walk = &search->page;

	walk->value = page;
	walk_begin(search, walk, reg, n + 1);
	while (walk_next(walk, &n)) {
		uint64_t addr = search->code->addr + n * FTR_ARCH_INSTRUCTION_BYTES;
		struct ftr_a64_insn insn = ftr_a64_insn(word_at(search, n), addr);

		if (page_step(search, walk, n, &insn))
			walk_on(search, walk, n, &insn);
	}
}

/* Linkers make adr of adrp where a processor's erratum asks for it. */
static bool is_page(const struct search *search, const struct ftr_a64_insn *insn)
{
	return insn->kind == FTR_A64_ADDRESS && insn->address % PAGE_BYTES == 0 &&
	       insn->address <= search->high && insn->address + PAGE_BYTES > search->low;
}

static void insn_read(struct search *search, size_t n)
{
	uint64_t addr = search->code->addr + n * FTR_ARCH_INSTRUCTION_BYTES;
	uint32_t word = word_at(search, n);
	struct ftr_a64_insn insn = ftr_a64_insn(word, addr);

	if (is_page(search, &insn))
		page_follow(search, insn.address, insn.reg, n);
	else if (insn.kind == FTR_A64_LITERAL && ftr_a64_is_literal_load(word))
		entry_follow(search, insn.address, insn.reg, n);	/* -mcmodel=tiny */
	else if (insn.kind == FTR_A64_ADDRESS || insn.kind == FTR_A64_LITERAL)
		tell(search, n, insn.address, FTR_A64_OTHER);
}

int ftr_arch_got_uses_aarch64(const struct ftr_code *code, uint64_t low, uint64_t high,
			      ftr_got_use_fn *each, void *arg)
{
	struct search search = { .code = code, .low = low, .high = high, .each = each, .arg = arg };
	size_t nr = insn_nr(&search);

	search.page.seen = calloc(nr + 1, sizeof(uint32_t));
	search.entry.seen = calloc(nr + 1, sizeof(uint32_t));
	search.failed = search.page.seen == NULL || search.entry.seen == NULL;
	for (size_t n = 0; n < nr && !search.failed; n++)
		insn_read(&search, n);
	ftr_vec_fini(&search.page.pending);
	ftr_vec_fini(&search.entry.pending);
	free(search.page.seen);
	free(search.entry.seen);
	return search.failed ? -ENOMEM : 0;
}
