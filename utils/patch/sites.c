/* SPDX-License-Identifier: MIT */
/*
 * A jump takes the place of an event's no-operation and of what follows; where something leads
 * there, or there is no room, a short jump to padding nearby that has the jump, or else a jump that
 * begins at an instruction before.  Where several events stand so close that one jump covers them,
 * their heads follow each other:
 *
 *		(what is before, jump to first:)
 *	first:	head, what is between, jump to second:
 *	second:	head, what is covered; jump behind it in the function
 */
#include "utils/patch/sites.h"

#include <errno.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/patch/operands.h"
#include "utils/proto/sdt.h"

#define ALIGN 8u
#define BEFORE_BYTES 16u		/* of what is looked at before a site */
#define ENTRY_BYTES_MAX 24u		/* of a function's start, where it may be patched */

const char *ftr_site_state_text(enum ftr_site_state state)
{
	static const char *const texts[FTR_SITE_STATES] = {
		[FTR_SITE_NO_CODE] = "stand in no function that is known",
		[FTR_SITE_SHORT] = "have no room for a jump",
		[FTR_SITE_INTO] = "have jumps to what follows them",
		[FTR_SITE_SPECIAL] = "are followed by instructions that cannot be moved",
	};

	return texts[state];
}

/* Several sites under one jump: those from @first up to @end. */
struct group {
	struct ftr_sites *sites;
	size_t first, end;
	uint64_t start;			/* of the jump, the first site or before */
	unsigned want;			/* bytes of the jump */
	const struct ftr_function *function;
	struct ftr_moved moved;		/* from the last one on */
};

static uint64_t pc_of(const struct ftr_sites *sites, size_t n)
{
	return sites->v.v[n].note->pc;
}

/* Its function's code from @addr on. */
static struct ftr_code code_from(const struct group *group, uint64_t addr)
{
	struct ftr_code code = ftr_function_code(group->function);
	uint64_t skipped = addr - code.addr;

	code.bytes += skipped;
	code.size -= skipped;
	code.addr = addr;
	return code;
}

/* As moves want it: distances from the base.  Behind the next head, or to where the code ends. */
static enum ftr_move_state move(const struct group *group, struct ftr_code code, unsigned want,
				bool has_head, struct ftr_moved *moved)
{
	const struct ftr_patch_body *body = &group->sites->body;
	uint64_t to = has_head ? ftr_patch_body_place(body) + body->plain->head_bytes :
				 body->code.nr;

	code.addr -= body->base;
	return ftr_move(&code, want, to, moved);
}

/* A function that ends before may go on in the padding behind it. */
static bool has_room(const struct group *group, uint64_t end, unsigned missing)
{
	const struct ftr_function *function = group->function;
	struct ftr_sites *sites = group->sites;
	size_t n = (size_t)(function - sites->functions.all.v);
	uint64_t at;

	if (missing == 0)
		return true;
	if (sites->has_entries || end != function->addr + function->bytes ||
	    ftr_gap_get(&sites->gaps, n, &at) < missing || at != end)
		return false;
	ftr_gap_take_first(&sites->gaps, n, missing);
	return true;
}

static bool are_nops(const struct group *group)
{
	const struct ftr_arch_patch *patch = group->sites->functions.arch->patch;

	for (size_t n = group->first; n < group->end; n++) {
		struct ftr_code code = code_from(group, pc_of(group->sites, n));

		if (patch->nop_bytes(code.bytes, (uint32_t)code.size) == 0)
			return false;
	}
	return true;
}

static enum ftr_site_state state_of(enum ftr_move_state moved)
{
	switch (moved) {
	case FTR_MOVE_DONE:
		return FTR_SITE_PATCHED;
	case FTR_MOVE_INTO:
		return FTR_SITE_INTO;
	case FTR_MOVE_CALL:
		return FTR_SITE_SHORT;
	default:
		return FTR_SITE_SPECIAL;
	}
}

/* Does anything lead into what the jump covers, or moves, other than to its start? */
static bool is_led_into(const struct group *group)
{
	const struct ftr_code_place *place = &group->sites->places.v[group->first];
	uint64_t lead_in = pc_of(group->sites, group->first) - group->start;
	uint32_t covered = FTR_BIT(lead_in >= group->want ? lead_in + 1 : group->want) - 2;

	return (place->into >> (group->start - place->addr) & covered) != 0;
}

/* Can the jump be written, and what it covers be moved from the last site on? */
static enum ftr_site_state group_check(struct group *group)
{
	uint64_t start = group->start, last = pc_of(group->sites, group->end - 1);
	unsigned before = (unsigned)(last - start);
	enum ftr_move_state moved;

	group->function = ftr_function_around(&group->sites->functions, start);
	if (group->function == NULL ||
	    group->function != ftr_function_around(&group->sites->functions, last) ||
	    !are_nops(group))
		return FTR_SITE_NO_CODE;
	if (is_led_into(group))
		return FTR_SITE_INTO;
	moved = move(group, code_from(group, last), before < group->want ? group->want - before : 1,
		     true, &group->moved);
	if (moved != FTR_MOVE_DONE)
		return state_of(moved);
	return FTR_SITE_PATCHED;
}

/* What is from @from up to the site @n, which it then goes on to, with a head or without. */
static enum ftr_site_state before_move(const struct group *group, uint64_t from, size_t n,
				       bool has_head, struct ftr_moved *moved)
{
	struct ftr_code code = code_from(group, from);
	enum ftr_move_state state;

	code.size = pc_of(group->sites, n) - from;
	state = move(group, code, (unsigned)code.size, has_head, moved);
	if (state != FTR_MOVE_DONE)
		return state_of(state);
	if (moved->ends || moved->has_call || moved->from_bytes != code.size)
		return FTR_SITE_SHORT;
	moved->fix_nr--;			/* of the jump, which stays in the code */
	return FTR_SITE_PATCHED;
}

/* What the hook is to do, before the head. */
static void site_put(struct ftr_sites *sites, const struct ftr_site *site)
{
	struct ftr_patch_body *body = &sites->body;
	uint32_t start = ((uint32_t)body->code.nr + ALIGN - 1) / ALIGN * ALIGN, behind;
	struct ftr_operands operands;
	size_t bytes;

	ftr_operands_read(&operands, site->note->args, sites->functions.arch->operand,
			  sites->symbols);
	bytes = sizeof(struct ftr_sdt_site) + operands.nr * sizeof(operands.v[0]);
	ftr_patch_body_fill(body, (uint32_t)(start + bytes + sizeof(behind)));
	ftr_patch_body_fill(body, ftr_patch_body_place(body));
	if (body->ret < 0)
		return;
	memcpy(body->code.v + start, &(struct ftr_sdt_site){ site->id, operands.nr },
	       sizeof(struct ftr_sdt_site));
	memcpy(body->code.v + start + sizeof(struct ftr_sdt_site), operands.v,
	       operands.nr * sizeof(operands.v[0]));
	for (unsigned i = 0; i < operands.nr; i++) {
		uint32_t at = start + (uint32_t)(sizeof(struct ftr_sdt_site) +
						 i * sizeof(operands.v[0]));

		if (!operands.is_address[i])
			continue;
		ftr_patch_body_fix(body, at + (uint32_t)offsetof(struct ftr_sdt_arg, low),
				   FTR_PLAIN_LOW);
		ftr_patch_body_fix(body, at + (uint32_t)offsetof(struct ftr_sdt_arg, high),
				   FTR_PLAIN_HIGH);
	}
	behind = (uint32_t)body->code.nr + body->plain->head_bytes - start;
	memcpy(body->code.v + body->code.nr - sizeof(behind), &behind, sizeof(behind));
}

/* The jump that ends the code so far leads to @target in the code. */
static void last_jump_set(struct ftr_patch_body *body, uint32_t end, uint32_t target)
{
	uint32_t distance = target - end;

	if (body->ret == 0)
		memcpy(body->code.v + end - sizeof(distance), &distance, sizeof(distance));
}

/* The heads and what was moved: where the jump leads to. */
static enum ftr_site_state heads_put(struct group *group, uint32_t *target)
{
	struct ftr_sites *sites = group->sites;
	uint32_t jump_end = 0, at;
	enum ftr_site_state state = FTR_SITE_PATCHED;

	if (group->start < pc_of(sites, group->first)) {
		state = before_move(group, group->start, group->first, false, &group->moved);
		*target = ftr_patch_body_code(&sites->body, &group->moved);
		jump_end = (uint32_t)sites->body.code.nr;
	}
	for (size_t n = group->first; n < group->end && state == FTR_SITE_PATCHED; n++) {
		site_put(sites, &sites->v.v[n]);
		state = n + 1 == group->end ? group_check(group) :
			before_move(group, pc_of(sites, n), n + 1, true, &group->moved);
		if (state != FTR_SITE_PATCHED)
			return state;
		at = ftr_patch_body_head(&sites->body, pc_of(sites, n), (struct ftr_landing){ 0 },
					 &group->moved);
		if (jump_end == 0)
			*target = at;
		else
			last_jump_set(&sites->body, jump_end, at);
		jump_end = (uint32_t)sites->body.code.nr;
	}
	return state;
}

/* A jump where the group starts, or @near to it where a short one leads. */
static void jump_write(const struct group *group, uint64_t near, uint32_t target)
{
	struct ftr_patch_body *body = &group->sites->body;
	const struct ftr_code *section = group->function->section;
	uint64_t start = group->start, at = near != 0 ? near : start;

	ftr_patch_body_write(body, at, section->bytes + (at - section->addr),
			     (struct ftr_plain_write){
		.kind = FTR_PLAIN_JUMP,
		.bytes = (uint8_t)body->plain->jump_bytes,
		.target = target,
	});
	if (near == 0)
		return;
	ftr_patch_body_write(body, start, section->bytes + (start - section->addr),
			     (struct ftr_plain_write){
		.kind = FTR_PLAIN_STEP,
		.bytes = (uint8_t)group->want,
		.step = (int8_t)(near - (start + group->want)),
	});
}

static enum ftr_site_state group_put(struct group *group)
{
	struct ftr_sites *sites = group->sites;
	bool is_step = group->want == sites->body.plain->step_bytes;
	uint64_t start = group->start, last = pc_of(sites, group->end - 1);
	enum ftr_site_state state;
	uint32_t target = 0;
	uint64_t near = 0;
	unsigned moved;

	state = heads_put(group, &target);
	if (state != FTR_SITE_PATCHED)
		return state;
	moved = (unsigned)(last - start) + group->moved.from_bytes;
	if (!has_room(group, start + moved, moved < group->want ? group->want - moved : 0))
		return FTR_SITE_SHORT;
	if (is_step && !sites->has_entries)
		near = ftr_gap_find(&sites->gaps,
				    (size_t)(group->function - sites->functions.all.v),
				    start + group->want);
	if (is_step && near == 0)
		return FTR_SITE_SHORT;
	jump_write(group, near, target);
	sites->moved_end = start + (moved < group->want ? group->want : moved);
	return FTR_SITE_PATCHED;
}

/* The sites from @first on that a jump of @want bytes at @start covers; that one in any case. */
static struct group group_of(struct ftr_sites *sites, size_t first, uint64_t start, unsigned want)
{
	struct group group = {
		.sites = sites, .first = first, .end = first + 1, .start = start, .want = want,
	};

	while (group.end < sites->v.nr && pc_of(sites, group.end) - start < want)
		group.end++;
	return group;
}

/* Answers with where the next group begins. */
static size_t group_plan(struct group *group)
{
	enum ftr_site_state state = group_check(group);

	if (state == FTR_SITE_PATCHED)
		state = group_put(group);
	for (size_t n = group->first; n < group->end; n++)
		group->sites->v.v[n].state = state;
	return group->end;
}

/* Where a jump that begins before @start could; 0 = nowhere. */
static uint64_t start_before(const struct ftr_sites *sites, size_t first, uint64_t start)
{
	const struct ftr_function *function = ftr_function_around(&sites->functions, start);
	struct ftr_code code;
	uint64_t before;

	if (function == NULL)
		return 0;
	code = ftr_function_code(function);
	code.size = start - code.addr;
	before = start - ftr_move_last_bytes(&code);
	if (before == start || before < sites->moved_end || before < sites->places.v[first].addr ||
	    before < function->addr + function->landing ||
	    ((sites->has_entries || sites->has_room_at_entries) &&
	     before - function->addr < ENTRY_BYTES_MAX))
		return 0;
	return before;
}

static bool may_be_otherwise(const struct ftr_sites *sites, size_t first)
{
	return sites->v.v[first].state == FTR_SITE_SHORT ||
	       sites->v.v[first].state == FTR_SITE_INTO;
}

static size_t sites_plan(struct ftr_sites *sites, size_t first)
{
	const struct ftr_arch_plain *plain = sites->body.plain;
	uint64_t start = pc_of(sites, first);
	struct group group = group_of(sites, first, start, plain->jump_bytes);
	size_t end = group_plan(&group);

	if (plain->step_bytes == 0 || !may_be_otherwise(sites, first))
		return end;
	group = group_of(sites, first, start, plain->step_bytes);
	end = group_plan(&group);
	while (may_be_otherwise(sites, first) &&
	       (start = start_before(sites, first, start)) != 0) {
		group = group_of(sites, first, start, plain->jump_bytes);
		end = group_plan(&group);
	}
	return end;
}

static int places_make(struct ftr_sites *sites)
{
	for (size_t n = 0; n < sites->v.nr; n++) {
		struct ftr_code_place place = { .addr = pc_of(sites, n) - BEFORE_BYTES };

		if (ftr_vec_push(&sites->places, place) < 0)
			return -ENOMEM;
	}
	sites->functions.places = sites->places.v;
	sites->functions.place_nr = sites->places.nr;
	return 0;
}

int ftr_sites_plan(struct ftr_sites *sites, const struct ftr_elf_file *file)
{
	size_t first;

	if (places_make(sites) < 0 ||
	    ftr_functions_load(&sites->functions, file, sites->symbols) < 0)
		return -ENOMEM;
	for (size_t n = 0; n < sites->v.nr; n++)
		sites->v.v[n].state = FTR_SITE_NO_CODE;
	if (sites->functions.all.nr == 0 || sites->functions.arch->operand == NULL)
		return 0;
	sites->body.plain = sites->functions.arch->plain;
	sites->body.base = file->base;
	if (ftr_gaps_init(&sites->gaps, &sites->functions) < 0)
		return -ENOMEM;
	for (first = 0; first < sites->v.nr;)
		first = sites_plan(sites, first);
	ftr_patch_body_end(&sites->body);
	return sites->body.ret;
}

void ftr_sites_fini(struct ftr_sites *sites)
{
	ftr_gaps_fini(&sites->gaps);
	ftr_functions_fini(&sites->functions);
	ftr_patch_body_fini(&sites->body);
	ftr_vec_fini(&sites->places);
	ftr_vec_fini(&sites->v);
}
