/* SPDX-License-Identifier: MIT */
/*
 * A jump takes the place of the first instructions.  Where these are fewer bytes than it has, or
 * something leads into them, or they call, a short jump does, to padding nearby that has the jump.
 */
#include "utils/patch/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/patch/move.h"

const char *ftr_entry_state_text(enum ftr_entry_state state)
{
	static const char *const texts[FTR_ENTRY_STATES] = {
		[FTR_ENTRY_UNWANTED] = "not chosen by --patch and --unpatch, or begin with an "
				       "event that --Event names",
		[FTR_ENTRY_PART] = "parts of other functions, or may be",
		[FTR_ENTRY_START] = "the compiler's, of its start files",
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
};

static uint64_t code_at(const struct ftr_function *function)
{
	return function->addr + function->landing;
}

static struct ftr_landing landing_of(const struct ftr_function *function)
{
	return (struct ftr_landing){
		function->section->bytes + (function->addr - function->section->addr),
		function->landing,
	};
}

/* Move at least @want bytes of the function's first instructions to where its head will be. */
static enum ftr_move_state entry_move(const struct plan *plan, const struct ftr_function *function,
				      unsigned want, struct ftr_moved *moved)
{
	struct ftr_code code = ftr_function_code(function);

	code.bytes += function->landing;
	code.size -= function->landing;
	code.addr += function->landing - plan->base;
	return ftr_move(&code, want,
			ftr_patch_body_place(&plan->entries->body) + plan->plain->head_bytes +
			ftr_patch_body_again(&plan->entries->body, landing_of(function)), moved);
}

static void write_add(struct plan *plan, const struct ftr_function *function, uint64_t addr,
		      struct ftr_plain_write write)
{
	const uint8_t *original = function->section->bytes + (addr - function->section->addr);

	ftr_patch_body_write(&plan->entries->body, addr, original, write);
}

/* The head of @function and what was @moved; answers with where it is jumped to. */
static uint32_t code_add(struct plan *plan, const struct ftr_function *function,
			 const struct ftr_moved *moved)
{
	return ftr_patch_body_head(&plan->entries->body, function->addr, landing_of(function),
				   moved);
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
	    ftr_gap_get(&plan->entries->gaps, n, &at) < want - moved->from_bytes || at != end)
		return false;
	ftr_gap_take_first(&plan->entries->gaps, n, want - moved->from_bytes);
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
	at = ftr_gap_find(&plan->entries->gaps, n, from);
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

/* What crtbegin.o brings along, on machines where it has call frame information. */
static bool is_of_start_files(const struct ftr_symbol *symbol)
{
	static const char *const names[] = { "frame_dummy", "register_tm_clones",
					     "deregister_tm_clones", "__do_global_dtors_aux",
					     "call_weak_fn" };

	for (size_t i = 0; symbol != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(symbol->name, names[i]) == 0)
			return true;
	}
	return false;
}

static enum ftr_entry_state direct_plan(struct plan *plan, size_t n)
{
	const struct ftr_function *function = &plan->entries->functions.all.v[n];

	if (is_of_start_files(function->symbol))
		return FTR_ENTRY_START;
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
	state = plan->plain->step_bytes != 0 ? step_plan(plan, n) : direct;
	if (state == FTR_ENTRY_SHORT && direct == FTR_ENTRY_SHORT)
		state = jump_plan(plan, n, true);
	return state;
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
	entries->body.plain = plan.plain;
	entries->body.base = file->base;
	entries->states = calloc(nr, sizeof(entries->states[0]));
	if (entries->states == NULL || ftr_gaps_init(&entries->gaps, &entries->functions) < 0)
		return -ENOMEM;
	states_decide(&plan, is_wanted, arg);
	ftr_patch_body_end(&entries->body);
	return entries->body.ret;
}

void ftr_entries_fini(struct ftr_entries *entries)
{
	ftr_functions_fini(&entries->functions);
	free(entries->states);
	ftr_gaps_fini(&entries->gaps);
	ftr_patch_body_fini(&entries->body);
}
