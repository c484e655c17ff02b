/* SPDX-License-Identifier: MIT */
/* See code_plan.h. */
#include "libmcount/code_plan.h"

#include <string.h>
#include <sys/mman.h>

#include "utils/base/rt/sys.h"

#define ROOM_FIRST 4096u

static uint64_t bytes_of(uint32_t room)
{
	return room * (uint64_t)sizeof(struct ftr_attach_code);
}

static bool grow(struct ftr_code_plan *plan)
{
	uint32_t room = plan->room == 0 ? ROOM_FIRST : 2 * plan->room;
	long mem;

	if (plan->outgrown_nr == FTR_CODE_GROWTHS)
		return false;
	mem = ftr_sys_map(0, bytes_of(room), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return false;
	if (plan->v != NULL) {
		memcpy((void *)mem, plan->v, plan->nr * sizeof(*plan->v));
		plan->outgrown[plan->outgrown_nr++] = plan->v;
	}
	plan->v = (struct ftr_attach_code *)mem;
	plan->room = room;
	return true;
}

bool ftr_code_plan_add(struct ftr_code_plan *plan, const struct ftr_code_change *change)
{
	struct ftr_attach_code *code;

	if (change->bytes > FTR_ATTACH_CODE_MAX || (plan->nr == plan->room && !grow(plan)))
		return false;
	code = &plan->v[plan->nr++];
	code->addr = change->addr;
	code->needs = change->needs;
	code->is_gone = false;
	code->is_later = change->is_later;
	code->is_fixed = change->is_fixed;
	code->bytes = (uint8_t)change->bytes;
	memcpy(code->old, change->old, change->bytes);
	memcpy(code->new, change->new, change->bytes);
	return true;
}

uint32_t ftr_code_plan_find(const struct ftr_code_plan *plan, uint32_t first, uint32_t end,
			    uintptr_t addr)
{
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (plan->v[middle].addr == addr)
			return middle;
		if (plan->v[middle].addr < addr)
			first = middle + 1;
		else
			end = middle;
	}
	return FTR_CODE_NONE;
}

/* Whoever reads what it has outgrown is to see it, too. */
static void gone_set(struct ftr_code_plan *plan, uint32_t n)
{
	uint32_t i;

	plan->v[n].is_gone = true;
	for (i = 0; i < plan->outgrown_nr; i++) {
		if (n < ROOM_FIRST << i)
			plan->outgrown[i][n].is_gone = true;
	}
}

void ftr_code_plan_forget(struct ftr_code_plan *plan, uintptr_t low, uintptr_t bytes)
{
	uint32_t i;

	for (i = 0; i < plan->nr; i++) {
		if (plan->v[i].addr - low < bytes)
			gone_set(plan, i);
	}
}

void ftr_code_plan_renew(struct ftr_code_plan *plan, uintptr_t text, uintptr_t end)
{
	uint32_t i;

	for (i = 0; i < plan->nr; i++) {
		const struct ftr_attach_code *code = &plan->v[i];

		if (code->addr >= text && code->addr + code->bytes <= end &&
		    memcmp((const void *)(uintptr_t)code->addr, code->new, code->bytes) != 0)
			gone_set(plan, i);
	}
}

void ftr_code_plan_free(struct ftr_code_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->outgrown_nr; i++)
		ftr_sys2(SYS_munmap, plan->outgrown[i], bytes_of(ROOM_FIRST << i));
	if (plan->v != NULL)
		ftr_sys2(SYS_munmap, plan->v, bytes_of(plan->room));
	*plan = (struct ftr_code_plan){ .v = NULL };
}
