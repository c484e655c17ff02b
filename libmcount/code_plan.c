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

	if (room < plan->room)
		return false;
	if (plan->v == NULL)
		mem = ftr_sys6(SYS_mmap, 0, bytes_of(room), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		mem = ftr_sys4(SYS_mremap, plan->v, bytes_of(plan->room), bytes_of(room),
			       MREMAP_MAYMOVE);
	if (ftr_sys_map_failed(mem))
		return false;
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

void ftr_code_plan_free(struct ftr_code_plan *plan)
{
	if (plan->v != NULL)
		ftr_sys2(SYS_munmap, plan->v, bytes_of(plan->room));
	*plan = (struct ftr_code_plan){ .v = NULL };
}
