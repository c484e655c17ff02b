/* SPDX-License-Identifier: MIT */
/* See stack.h. */
#include "utils/observe/stack.h"

#include <string.h>

#include "utils/observe/unwind.h"

void ftr_observer_stacks_init(struct ftr_observer_stacks *stacks,
			      const struct ftr_observer_sink *sink)
{
	*stacks = (struct ftr_observer_stacks){ .sink = sink };
	ftr_hashmap_init(&stacks->by_place);
	ftr_hashmap_init(&stacks->by_ids);
}

void ftr_observer_stacks_fini(struct ftr_observer_stacks *stacks)
{
	ftr_space_modules_fini(&stacks->modules);
	ftr_hashmap_fini(&stacks->by_place);
	ftr_hashmap_fini(&stacks->by_ids);
	ftr_vec_fini(&stacks->frames);
	ftr_vec_fini(&stacks->stacks);
	ftr_vec_fini(&stacks->ids);
}

static uint32_t number_of(const struct ftr_hashmap *map, uint64_t hash)
{
	return (uint32_t)(uintptr_t)ftr_hashmap_find(map, hash);
}

static int number_set(struct ftr_hashmap *map, uint64_t hash, uint32_t number)
{
	return ftr_hashmap_set(map, hash, (void *)(uintptr_t)number);
}

static void frame_report(const struct ftr_observer_stacks *stacks, const struct ftr_tracee *tracee,
			 struct ftr_space_module *module, uint64_t offset, uint32_t number)
{
	/* A return address may be behind the end of a function that does not return. */
	const struct ftr_symbol *symbol = ftr_space_symbol(module, tracee, offset);
	const struct ftr_observer_frame frame = {
		.path = module->path,
		.offset = offset,
		.name = symbol != NULL ? symbol->name : NULL,
		.name_offset = symbol != NULL ? symbol->addr : 0,
	};

	stacks->sink->frame(stacks->sink->arg, number, &frame);
}

static uint32_t frame_intern(struct ftr_observer_stacks *stacks, const struct ftr_tracee *tracee,
			     struct ftr_space_module *module, uint64_t offset)
{
	uint64_t hash = ftr_hash_u64(offset ^ ftr_hash_u64((uintptr_t)module));
	uint32_t first = number_of(&stacks->by_place, hash), number;
	struct ftr_stack_place place = { module, offset, first };

	for (number = first; number != 0; number = stacks->frames.v[number - 1].next) {
		if (stacks->frames.v[number - 1].module == module &&
		    stacks->frames.v[number - 1].offset == offset)
			return number;
	}
	if (ftr_vec_push(&stacks->frames, place) < 0)
		return 0;
	number = (uint32_t)stacks->frames.nr;
	if (number_set(&stacks->by_place, hash, number) < 0)
		return 0;
	frame_report(stacks, tracee, module, offset, number);
	return number;
}

static uint32_t frame_of(struct ftr_observer_stacks *stacks, struct ftr_space *space,
			 const struct ftr_tracee *tracee, uint64_t ip)
{
	uint32_t number = number_of(&space->frames, ip);
	const struct ftr_space_range *range;

	if (number != 0)
		return number;
	range = ftr_space_find(space, ip);
	if (range == NULL)
		return 0;
	number = frame_intern(stacks, tracee, range->module, ip - range->base);
	if (number != 0)
		number_set(&space->frames, ip, number);
	return number;
}

static uint32_t stack_intern(struct ftr_observer_stacks *stacks, const uint32_t *ids, size_t nr)
{
	uint64_t hash = ftr_hash_bytes(ids, nr * sizeof(*ids));
	uint32_t first = number_of(&stacks->by_ids, hash), number;
	struct ftr_stack_known known = { stacks->ids.nr, nr, first };

	for (number = first; number != 0; number = stacks->stacks.v[number - 1].next) {
		const struct ftr_stack_known *other = &stacks->stacks.v[number - 1];

		if (other->nr == nr &&
		    memcmp(&stacks->ids.v[other->first], ids, nr * sizeof(*ids)) == 0)
			return number;
	}
	if (ftr_vec_reserve(&stacks->ids, stacks->ids.nr + nr) < 0 ||
	    ftr_vec_push(&stacks->stacks, known) < 0)
		return 0;
	memcpy(&stacks->ids.v[stacks->ids.nr], ids, nr * sizeof(*ids));
	stacks->ids.nr += nr;
	number = (uint32_t)stacks->stacks.nr;
	if (number_set(&stacks->by_ids, hash, number) < 0)
		return 0;
	stacks->sink->stack(stacks->sink->arg, number, ids, nr);
	return number;
}

static size_t unwind(struct ftr_observer_stacks *stacks, const struct ftr_tracee *tracee,
		     uint64_t *ips)
{
	struct ftr_space *space = tracee->process->space;
	uint64_t unknown;
	size_t nr;

	if (space->is_stale)
		ftr_space_load(space, &stacks->modules, tracee);
	nr = ftr_unwind(space, tracee, ips, FTR_STACK_FRAMES_MAX, &unknown);
	if (unknown == 0 || unknown == space->unknown_ip)
		return nr;
	space->unknown_ip = unknown;		/* once: code may be made at run time */
	if (ftr_space_load(space, &stacks->modules, tracee))
		nr = ftr_unwind(space, tracee, ips, FTR_STACK_FRAMES_MAX, &unknown);
	return nr;
}

uint32_t ftr_observer_stack_intern(struct ftr_observer_stacks *stacks, struct ftr_space *space,
				   const struct ftr_tracee *tracee, const uint64_t *ips, size_t nr)
{
	uint32_t ids[FTR_STACK_COPY_FRAMES_MAX];
	size_t i;

	for (i = 0; i < nr && i < FTR_STACK_COPY_FRAMES_MAX; i++) {
		ids[i] = frame_of(stacks, space, tracee, ips[i]);
		if (ids[i] == 0)
			break;
	}
	return i > 0 ? stack_intern(stacks, ids, i) : 0;
}

uint32_t ftr_observer_stack_take(struct ftr_observer_stacks *stacks,
				 const struct ftr_tracee *tracee)
{
	uint64_t ips[FTR_STACK_FRAMES_MAX];
	size_t nr, i;

	if (tracee->process->space == NULL)
		tracee->process->space = ftr_space_new();
	if (tracee->process->space == NULL)
		return 0;
	nr = unwind(stacks, tracee, ips);
	for (i = 1; i < nr; i++)
		ips[i]--;		/* what is there belongs to the call before it */
	return ftr_observer_stack_intern(stacks, tracee->process->space, tracee, ips, nr);
}

void ftr_observer_stack_opens(const struct ftr_tracee *tracee, const char *path)
{
	if (tracee->process->space != NULL && strstr(path, ".so") != NULL)
		tracee->process->space->is_stale = true;
}
