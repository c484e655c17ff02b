/* SPDX-License-Identifier: MIT */
/* Moved instructions: their addresses are put in, and they are mapped. */
#include "libmcount/plain_code.h"

#include <string.h>
#include <sys/mman.h>

#include "arch/patch.h"
#include "arch/plain.h"
#include "libmcount/patch_near.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/sections.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

#define PAGE 4096ul
#define NO_MEMORY "no memory; raise the limit of address space (ulimit -v)"
#define NO_PLACE "no free memory within " FTR_ARCH_PATCH_REACH_TEXT " of them"
#define NO_CODE "the system lets no code be mapped from memory (memfd_create); compile with -pg " \
		"instead"

/* The code with its addresses, before it is run. */
struct draft {
	const struct ftr_plain *plain;
	uint8_t *bytes;			/* mapped */
	unsigned long mapped_bytes;
	uintptr_t place;		/* reserved for it */
	uintptr_t hook;
};

static bool fix(struct draft *draft, uint32_t at, enum ftr_plain_fix kind)
{
	uintptr_t base = draft->plain->base;
	uint32_t value;

	if (at + sizeof(value) > draft->plain->table->code_bytes)
		return false;
	memcpy(&value, draft->plain->bytes + at, sizeof(value));
	switch (kind) {
	case FTR_PLAIN_RELATIVE:
		value += (uint32_t)(base - draft->place);
		break;
	case FTR_PLAIN_HOOK:
		value = ftr_arch_plain_call(draft->place + at, draft->hook);
		break;
	case FTR_PLAIN_LOW:
		value = (uint32_t)(base + value);
		break;
	case FTR_PLAIN_HIGH:
		value = (uint32_t)((base + value) >> 32);
		break;
	case FTR_PLAIN_BRANCH:
		value = ftr_arch_plain_branch(value, base - draft->place);
		break;
	default:
		return false;
	}
	memcpy(draft->bytes + at, &value, sizeof(value));
	return true;
}

static bool fix_all(struct draft *draft)
{
	const struct ftr_plain *plain = draft->plain;
	uint32_t i;

	memcpy(draft->bytes, plain->bytes, plain->table->code_bytes);
	for (i = 0; i < plain->table->fix_nr; i++) {
		if (!fix(draft, plain->fixes[i] >> FTR_PLAIN_FIX_BITS,
			 (enum ftr_plain_fix)(plain->fixes[i] & FTR_PLAIN_FIX_MASK)))
			return false;
	}
	return true;
}

static long memory_open(void)
{
	static const char name[] = "ftr-entries";
	long fd = ftr_sys6(SYS_memfd_create, name, MFD_CLOEXEC | MFD_EXEC, 0, 0, 0, FTR_OWN_CALL);

	if (fd < 0)		/* older kernels do not know the flag, nor do they need it */
		fd = ftr_sys6(SYS_memfd_create, name, MFD_CLOEXEC, 0, 0, 0, FTR_OWN_CALL);
	return fd;
}

static bool write_all(long fd, const uint8_t *bytes, uint64_t nr)
{
	uint64_t done = 0;

	while (done < nr) {
		long ret = ftr_sys_write_at(fd, bytes + done, nr - done, done);

		if (ret <= 0)
			return false;
		done += (uint64_t)ret;
	}
	return true;
}

static bool code_map(const struct draft *draft)
{
	uint64_t bytes = draft->plain->table->code_bytes;
	long fd = memory_open(), ret = -1;

	if (fd < 0)
		return false;
	if (write_all(fd, draft->bytes, bytes))
		ret = ftr_sys_map(draft->place, bytes, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_FIXED, fd, 0);
	ftr_sys_close_own(fd);
	return !ftr_sys_map_failed(ret);
}

/*
 * Everything that the code leads to must be in its reach, and the other way round.  A way to the
 * hook is looked for first, so that new code comes to lie between.
 */
static bool place_is_good(struct draft *draft)
{
	uintptr_t low = draft->plain->base, high = low + draft->plain->table->reach;
	uintptr_t end = draft->place + draft->mapped_bytes;
	struct ftr_patch_targets targets;

	low = draft->place < low ? draft->place : low;
	high = end > high ? end : high;
	if (!ftr_patch_is_in_reach(low, low, high) ||
	    !ftr_patch_near(&ftr_state.patch_near, low, high, &targets))
		return false;
	draft->hook = draft->plain->kind == FTR_SECTION_SDT ? targets.site : targets.plain;
	return true;
}

static bool place_find(struct draft *draft)
{
	uintptr_t low = draft->plain->base, high = low + draft->plain->table->reach;
	struct ftr_patch_targets targets;

	if (!ftr_patch_near(&ftr_state.patch_near, low, high, &targets))
		return false;
	draft->place = ftr_patch_near_reserve(low, high, draft->mapped_bytes);
	return draft->place != 0 && place_is_good(draft);
}

/* The library's that had this slot before, or this one's, when it is shown again. */
static struct ftr_plain_area *area_get(uint32_t slot, uint32_t kind)
{
	struct ftr_plain_areas *areas = &ftr_state.plain_areas;
	uint32_t i;

	for (i = 0; i < areas->nr; i++) {
		if (areas->v[i].slot == slot && areas->v[i].kind == kind)
			return &areas->v[i];
	}
	if (areas->nr == FTR_PLAIN_AREAS_MAX)
		return NULL;
	areas->v[areas->nr].slot = slot;
	areas->v[areas->nr].kind = kind;
	return &areas->v[areas->nr++];
}

static void area_release(struct ftr_plain_area *area)
{
	if (area->code != 0)
		ftr_sys2(SYS_munmap, area->code, area->mapped_bytes);
	area->code = 0;
}

/* Put the code where the area is, unless it is there. */
static const char *area_fill(struct draft *draft, struct ftr_plain_area *area, bool is_new)
{
	uint32_t bytes = draft->plain->table->code_bytes;

	if (!fix_all(draft))
		return "the recorder's section is damaged";
	if (!is_new && memcmp(draft->bytes, (const void *)area->code, bytes) == 0)
		return NULL;
	return code_map(draft) ? NULL : NO_CODE;
}

static const char *area_map(struct draft *draft, struct ftr_plain_area *area)
{
	bool is_new;

	draft->place = area->code;
	is_new = area->code == 0 || area->mapped_bytes < draft->mapped_bytes ||
		 !place_is_good(draft);
	if (is_new) {
		area_release(area);
		draft->place = 0;
		if (!place_find(draft)) {
			if (draft->place != 0)
				ftr_sys2(SYS_munmap, draft->place, draft->mapped_bytes);
			return NO_PLACE;
		}
		area->code = draft->place;
		area->mapped_bytes = draft->mapped_bytes;
	}
	return area_fill(draft, area, is_new);
}

const char *ftr_plain_code_map(struct ftr_plain *plain)
{
	struct ftr_plain_area *area = area_get(plain->slot, plain->kind);
	struct draft draft = { .plain = plain };
	const char *refusal;
	long mem;

	if (area == NULL)
		return "too many libraries are patched";
	draft.mapped_bytes = (plain->table->code_bytes + PAGE - 1) & ~(PAGE - 1);
	mem = ftr_sys_map(0, draft.mapped_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return NO_MEMORY;
	draft.bytes = (uint8_t *)mem;
	refusal = area_map(&draft, area);
	if (refusal != NULL)
		area_release(area);
	plain->code = area->code;
	ftr_sys2(SYS_munmap, draft.bytes, draft.mapped_bytes);
	return refusal;
}
