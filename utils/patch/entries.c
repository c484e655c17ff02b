/* SPDX-License-Identifier: MIT */
/*
 * A jump takes the place of the first instructions.  Where these are fewer bytes than it has, or
 * something leads into them, or they call, a short jump does, to padding nearby that has the jump.
 * Padding is what compilers put between functions; from each gap bytes are taken from both ends.
 */
#include "utils/patch/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/patch/move.h"

#define ALIGN 16u		/* of functions, at least where padding is seen */
#define GAP_UNKNOWN UINT32_MAX
#define INT3 0xcc

/* Of the padding behind a function: how many bytes are free, and above that how many were taken. */
#define GAP_FREE_BITS 16
#define GAP_FREE_MASK (FTR_BIT(GAP_FREE_BITS) - 1)

const char *ftr_entry_state_text(enum ftr_entry_state state)
{
	static const char *const texts[FTR_ENTRY_STATES] = {
		[FTR_ENTRY_UNWANTED] = "not chosen by --patch and --unpatch",
		[FTR_ENTRY_PART] = "parts of other functions, or may be",
		[FTR_ENTRY_SHORT] = "too short for a jump, without padding nearby",
		[FTR_ENTRY_LOOP] = "jump to their own start",
		[FTR_ENTRY_INTO] = "have jumps into their first instructions",
		[FTR_ENTRY_SPECIAL] = "begin with instructions that cannot be moved",
		[FTR_ENTRY_UNDECODED] = "begin with what cannot be decoded",
	};

	return texts[state];
}

/* The plan at work. */
struct plan {
	struct ftr_entries *entries;
	const struct ftr_arch *arch;
	const struct ftr_arch_plain *plain;
	uint64_t base;
	int ret;
};

/* Whole no-operations and traps at @bytes, of @nr that are there. */
static uint32_t padding_get(const struct plan *plan, const uint8_t *bytes, uint32_t nr)
{
	uint32_t at = 0;

	while (at < nr) {
		unsigned nop = bytes[at] == INT3 ? 1 : plan->arch->patch->nop_bytes(bytes + at,
										     nr - at);

		if (nop == 0)
			break;
		at += nop;
	}
	return at;
}

/* From the end of function @n to the next, or at most as far as leads are known. */
static uint32_t gap_limit(const struct ftr_functions *functions, size_t n)
{
	const struct ftr_function *function = &functions->all.v[n];
	uint64_t end = function->addr + function->bytes;
	uint64_t next = function->section->addr + function->section->size;

	if (n + 1 < functions->all.nr && functions->all.v[n + 1].addr < next)
		next = functions->all.v[n + 1].addr;
	if (next - end > FTR_FUNCTION_BEHIND_MAX)
		return FTR_FUNCTION_BEHIND_MAX;
	return (uint32_t)(next - end);
}

/*
 * Bytes behind function @n that nothing runs.  Where other code follows, of which nothing is known,
 * they end where it is aligned.
 */
static uint32_t gap_measure(const struct plan *plan, size_t n)
{
	const struct ftr_functions *functions = &plan->entries->functions;
	const struct ftr_function *function = &functions->all.v[n];
	struct ftr_code code = ftr_function_code(function);
	uint32_t limit = gap_limit(functions, n), bytes;
	uint32_t aligned = (uint32_t)(-(function->addr + function->bytes) % ALIGN);

	bytes = padding_get(plan, code.bytes + code.size, limit);
	if (bytes < limit)
		bytes = bytes < aligned ? 0 : padding_get(plan, code.bytes + code.size, aligned);
	if (function->behind != 0 && bytes > (uint32_t)__builtin_ctzll(function->behind))
		bytes = (uint32_t)__builtin_ctzll(function->behind);
	return bytes > 0 && ftr_move_is_closed(&code) ? bytes : 0;
}

/* Free bytes behind function @n; *at: of the first. */
static uint32_t gap_get(struct plan *plan, size_t n, uint64_t *at)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];
	uint32_t *gap = &plan->entries->gaps[n];

	if (*gap == GAP_UNKNOWN)
		*gap = gap_measure(plan, n);
	*at = function->addr + function->bytes + (*gap >> GAP_FREE_BITS);
	return *gap & GAP_FREE_MASK;
}

/* Take bytes from its start. */
static void gap_take_first(struct plan *plan, size_t n, uint32_t bytes)
{
	plan->entries->gaps[n] += (bytes << GAP_FREE_BITS) - bytes;
}

static void gap_take_last(struct plan *plan, size_t n, uint32_t bytes)
{
	plan->entries->gaps[n] -= bytes;
}

static uint64_t code_at(const struct ftr_function *function)
{
	return function->addr + function->landing;
}

static void write_add(struct plan *plan, const struct ftr_function *function, uint64_t addr,
		      struct ftr_plain_write write)
{
	write.offset = (uint32_t)(addr - plan->base);
	memcpy(write.original, function->section->bytes + (addr - function->section->addr),
	       write.bytes);
	if (ftr_vec_push(&plan->entries->writes, write) < 0)
		plan->ret = -ENOMEM;
}

static void fix_add(struct plan *plan, uint32_t at, enum ftr_plain_fix kind)
{
	if (ftr_vec_push(&plan->entries->fixes, at << FTR_PLAIN_FIX_BITS | kind) < 0)
		plan->ret = -ENOMEM;
}

/* Where the next head goes. */
static uint32_t head_place(const struct plan *plan)
{
	uint32_t start = (uint32_t)plan->entries->code.nr + plan->plain->head_start;

	return (start + plan->plain->head_align - 1) / plan->plain->head_align *
	       plan->plain->head_align - plan->plain->head_start;
}

/* The head of @function and what was @moved; answers with where it is jumped to. */
static uint32_t code_add(struct plan *plan, const struct ftr_function *function,
			 const struct ftr_moved *moved)
{
	const struct ftr_arch_plain *plain = plan->plain;
	struct ftr_entries *entries = plan->entries;
	uint32_t head = head_place(plan), body = head + plain->head_bytes;
	uint32_t distance = (uint32_t)(function->addr - plan->base) - (head + plain->head_start);

	if (ftr_vec_reserve(&entries->code, body + moved->code_bytes) < 0) {
		plan->ret = -ENOMEM;
		return 0;
	}
	memset(entries->code.v + entries->code.nr, INT3, head - entries->code.nr);
	memcpy(entries->code.v + head, plain->head, plain->head_bytes);
	memcpy(entries->code.v + head, &distance, sizeof(distance));
	memcpy(entries->code.v + body, moved->code, moved->code_bytes);
	entries->code.nr = body + moved->code_bytes;
	fix_add(plan, head, FTR_PLAIN_RELATIVE);
	fix_add(plan, head + plain->head_hook, FTR_PLAIN_HOOK);
	for (unsigned i = 0; i < moved->fix_nr; i++)
		fix_add(plan, body + moved->fixes[i].at, moved->fixes[i].kind);
	return head + plain->head_start;
}

/* Move at least @want bytes of the function's first instructions to where its head will be. */
static enum ftr_move_state entry_move(const struct plan *plan, const struct ftr_function *function,
				      unsigned want, struct ftr_moved *moved)
{
	struct ftr_code code = ftr_function_code(function);

	code.bytes += function->landing;
	code.size -= function->landing;
	code.addr += function->landing - plan->base;
	return ftr_move(&code, want, head_place(plan) + plan->plain->head_bytes, moved);
}

/* Does anything lead into the @bytes that are overwritten? */
static bool is_led_into(const struct ftr_function *function, unsigned bytes)
{
	return (function->into & (FTR_BIT(bytes) - 2)) != 0;
}

/* A function that ends before @want bytes may go on in the padding behind it. */
static bool has_room(struct plan *plan, size_t n, const struct ftr_moved *moved, unsigned want)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];
	uint64_t at, end = function->addr + function->bytes;

	if (moved->from_bytes >= want)
		return true;
	if (code_at(function) + moved->from_bytes != end ||
	    gap_get(plan, n, &at) < want - moved->from_bytes || at != end)
		return false;
	gap_take_first(plan, n, want - moved->from_bytes);
	return true;
}

static enum ftr_entry_state state_of(enum ftr_move_state moved)
{
	switch (moved) {
	case FTR_MOVE_DONE:
		return FTR_ENTRY_PATCHED;
	case FTR_MOVE_SPECIAL:
		return FTR_ENTRY_SPECIAL;
	case FTR_MOVE_UNDECODED:
		return FTR_ENTRY_UNDECODED;
	case FTR_MOVE_INTO:
		return FTR_ENTRY_INTO;
	default:
		return FTR_ENTRY_SHORT;
	}
}

/*
 * Make room for a jump of @want bytes over the first instructions of function @n; @may_call: even
 * if one of them calls.  FTR_ENTRY_PATCHED = there is room, and they are @moved.
 */
static enum ftr_entry_state room_make(struct plan *plan, size_t n, unsigned want, bool may_call,
				      struct ftr_moved *moved)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];
	enum ftr_move_state state;

	if (is_led_into(function, want))
		return FTR_ENTRY_INTO;
	state = entry_move(plan, function, want, moved);
	if (state != FTR_MOVE_DONE)
		return state_of(state);
	if ((moved->has_call && !may_call) || !has_room(plan, n, moved, want))
		return FTR_ENTRY_SHORT;
	return FTR_ENTRY_PATCHED;
}

/* A jump over the function's first instructions; @may_call: even if one of them calls. */
static enum ftr_entry_state jump_plan(struct plan *plan, size_t n, bool may_call)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];
	unsigned want = plan->plain->jump_bytes;
	enum ftr_entry_state state;
	struct ftr_moved moved;

	state = room_make(plan, n, want, may_call, &moved);
	if (state != FTR_ENTRY_PATCHED)
		return state;
	write_add(plan, function, code_at(function), (struct ftr_plain_write){
		.kind = FTR_PLAIN_JUMP,
		.bytes = (uint8_t)want,
		.target = code_add(plan, function, &moved),
	});
	return FTR_ENTRY_PATCHED;
}

/* Can a short jump that ends at @from reach @to? */
static bool is_near(const struct plan *plan, uint64_t from, uint64_t to)
{
	return to < from ? from - to <= plan->plain->step_back :
			   to - from <= plan->plain->step_ahead;
}

/* Padding behind function @n for a jump, that a short one ending at @from can reach; 0 = none. */
static uint64_t gap_use(struct plan *plan, size_t n, uint64_t from)
{
	uint32_t want = plan->plain->jump_bytes, free;
	uint64_t first, last;

	free = gap_get(plan, n, &first);
	last = first + free - want;
	if (free < want)
		return 0;
	if (is_near(plan, from, last)) {
		gap_take_last(plan, n, want);
		return last;
	}
	if (is_near(plan, from, first)) {
		gap_take_first(plan, n, want);
		return first;
	}
	return 0;
}

static uint64_t gap_find(struct plan *plan, size_t n, uint64_t from)
{
	const struct ftr_functions *functions = &plan->entries->functions;
	uint64_t found = 0;
	size_t i;

	for (i = n; i-- > 0 && found == 0;) {
		const struct ftr_function *one = &functions->all.v[i];

		if (!is_near(plan, from, functions->all.v[i + 1].addr))
			break;
		if (one->section == functions->all.v[n].section)
			found = gap_use(plan, i, from);
	}
	for (i = n; i < functions->all.nr && found == 0; i++) {
		const struct ftr_function *one = &functions->all.v[i];

		if (!is_near(plan, from, one->addr + one->bytes))
			break;
		if (one->section == functions->all.v[n].section)
			found = gap_use(plan, i, from);
	}
	return found;
}

/* A short jump, to one in padding. */
static enum ftr_entry_state step_plan(struct plan *plan, size_t n)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];
	unsigned want = plan->plain->step_bytes;
	uint64_t from = code_at(function) + want, at;
	enum ftr_entry_state state;
	struct ftr_moved moved;

	state = room_make(plan, n, want, false, &moved);
	if (state != FTR_ENTRY_PATCHED)
		return state;
	at = gap_find(plan, n, from);
	if (at == 0)
		return FTR_ENTRY_SHORT;
	write_add(plan, function, at, (struct ftr_plain_write){
		.kind = FTR_PLAIN_JUMP,
		.bytes = (uint8_t)plan->plain->jump_bytes,
		.target = code_add(plan, function, &moved),
	});
	write_add(plan, function, code_at(function), (struct ftr_plain_write){
		.kind = FTR_PLAIN_STEP,
		.bytes = (uint8_t)want,
		.step = (int8_t)(at - from),
	});
	return FTR_ENTRY_PATCHED;
}

static bool is_text(const struct plan *plan, const struct ftr_function *function)
{
	const struct ftr_elf_file *file = plan->entries->functions.file;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &shdr) != NULL &&
		    shdr.sh_addr == function->section->addr && (shdr.sh_flags & SHF_EXECINSTR) != 0)
			return strncmp(ftr_elf_section_name(file, &shdr), ".text", 5) == 0;
	}
	return false;
}

static enum ftr_entry_state direct_plan(struct plan *plan, size_t n)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];

	if (ftr_function_may_be_part(function))
		return FTR_ENTRY_PART;
	if (function->is_loop)
		return FTR_ENTRY_LOOP;
	return jump_plan(plan, n, false);
}

/* What could not be done at once, now that it is known which padding is left. */
static enum ftr_entry_state other_plan(struct plan *plan, size_t n, enum ftr_entry_state direct)
{
	enum ftr_entry_state state;

	if (direct != FTR_ENTRY_SHORT && direct != FTR_ENTRY_INTO)
		return direct;
	state = step_plan(plan, n);
	if (state == FTR_ENTRY_SHORT && direct == FTR_ENTRY_SHORT)
		state = jump_plan(plan, n, true);
	return state;
}

static int by_place(const void *left, const void *right)
{
	const struct ftr_plain_write *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void states_decide(struct plan *plan, ftr_entry_wanted_fn *is_wanted, void *arg)
{
	struct ftr_entries *entries = plan->entries;
	const struct ftr_code *section = NULL;
	bool is_patchable = false;
	size_t i;

	for (i = 0; i < entries->functions.all.nr; i++) {
		const struct ftr_function *function = &entries->functions.all.v[i];

		if (function->section != section)
			is_patchable = is_text(plan, function);
		section = function->section;
		entries->gaps[i] = GAP_UNKNOWN;
		entries->states[i] = FTR_ENTRY_STATES;
		if (is_patchable)
			entries->states[i] = is_wanted(arg, function) ? direct_plan(plan, i) :
									FTR_ENTRY_UNWANTED;
	}
	for (i = 0; i < entries->functions.all.nr; i++) {
		if (entries->states[i] == FTR_ENTRY_STATES)
			continue;
		entries->states[i] = other_plan(plan, i, entries->states[i]);
		entries->counts[entries->states[i]]++;
	}
}

int ftr_entries_plan(struct ftr_entries *entries, const struct ftr_elf_file *file,
		     const struct ftr_symtab *symbols, ftr_entry_wanted_fn *is_wanted, void *arg)
{
	struct plan plan = { .entries = entries, .base = file->base };
	size_t nr;

	*entries = (struct ftr_entries){ 0 };
	if (ftr_functions_load(&entries->functions, file, symbols) < 0)
		return -ENOMEM;
	nr = entries->functions.all.nr;
	if (nr == 0)
		return 0;
	plan.arch = entries->functions.arch;
	plan.plain = plan.arch->plain;
	entries->states = calloc(nr, sizeof(entries->states[0]));
	entries->gaps = calloc(nr, sizeof(entries->gaps[0]));
	if (entries->states == NULL || entries->gaps == NULL)
		return -ENOMEM;
	states_decide(&plan, is_wanted, arg);
	if (entries->writes.nr > 0)
		qsort(entries->writes.v, entries->writes.nr, sizeof(entries->writes.v[0]),
		      by_place);
	return plan.ret;
}

void ftr_entries_fini(struct ftr_entries *entries)
{
	ftr_functions_fini(&entries->functions);
	free(entries->states);
	free(entries->gaps);
	ftr_vec_fini(&entries->writes);
	ftr_vec_fini(&entries->fixes);
	ftr_vec_fini(&entries->code);
}
