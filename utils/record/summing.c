/* SPDX-License-Identifier: MIT */
/* See summing.h. */
#include "utils/record/summing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/proto/record.h"

#define PLACE_SHIFT 48		/* of a key: addresses have fewer bits */
#define PLACES_MAX  65536u
#define PART_OCTAVES (FTR_SUMMARY_OCTAVES / FTR_SUMMING_PARTS)

void ftr_summing_init(struct ftr_summing *self)
{
	memset(self, 0, sizeof(*self));
	ftr_hashmap_init(&self->place_by_key);
	ftr_hashmap_init(&self->func_by_key);
	ftr_hashmap_init(&self->tasks);
}

/* ---- places ---- */

/* Index + 1; 0 = there is no room. */
static uint32_t place_of(struct ftr_summing *self, uint64_t sid, uint64_t at_ns)
{
	uint64_t key = sid ^ ftr_hash_u64(at_ns);
	uint32_t nr = (uint32_t)(uintptr_t)ftr_hashmap_find(&self->place_by_key, key);
	struct ftr_summing_place place = { .place = { sid, at_ns } };

	if (nr != 0)
		return nr;
	if (self->places.nr >= PLACES_MAX || ftr_vec_push(&self->places, place) < 0 ||
	    ftr_hashmap_set(&self->place_by_key, key, (void *)(uintptr_t)self->places.nr) < 0) {
		self->has_failed = true;
		return 0;
	}
	return (uint32_t)self->places.nr;
}

/* ---- functions ---- */

static uint32_t func_new(struct ftr_summing *self, uint64_t key)
{
	struct ftr_summing_func func = {
		.place = (uint32_t)(key >> PLACE_SHIFT), .addr = key & FTR_RECORD_ADDR_MASK,
	};

	if (ftr_vec_push(&self->funcs, func) < 0 ||
	    ftr_hashmap_set(&self->func_by_key, key, (void *)(uintptr_t)self->funcs.nr) < 0) {
		self->has_failed = true;
		return 0;
	}
	return (uint32_t)self->funcs.nr;
}

/* Index + 1; 0 = out of memory. */
static uint32_t func_of(struct ftr_summing *self, uint32_t place, uint64_t addr)
{
	uint64_t key = (uint64_t)place << PLACE_SHIFT | addr;
	struct ftr_summing_cached *cached =
		&self->cache[ftr_hash_u64(key) % FTR_SUMMING_CACHE];

	if (cached->func != 0 && cached->key == key)
		return cached->func;
	cached->key = key;
	cached->func = (uint32_t)(uintptr_t)ftr_hashmap_find(&self->func_by_key, key);
	if (cached->func == 0)
		cached->func = func_new(self, key);
	return cached->func;
}

static void span_add(struct ftr_time_span *span, uint64_t ns, bool is_first)
{
	if (is_first)
		*span = (struct ftr_time_span){ .min_ns = ns, .max_ns = ns };
	if (ns < span->min_ns)
		span->min_ns = ns;
	if (ns > span->max_ns)
		span->max_ns = ns;
	span->squares += (double)ns * (double)ns;
}

static struct ftr_call_sum *octave_of(struct ftr_summing *self, struct ftr_summing_func *func,
				      unsigned octave)
{
	struct ftr_call_sum **part = &func->parts[octave / PART_OCTAVES];

	if (*part == NULL)
		*part = calloc(PART_OCTAVES, sizeof(**part));
	if (*part == NULL) {
		self->has_failed = true;
		return NULL;
	}
	return &(*part)[octave % PART_OCTAVES];
}

static void call_count(struct ftr_summing *self, uint32_t func_nr, uint64_t total_ns,
		       uint64_t self_ns, bool is_nested, bool is_outermost)
{
	struct ftr_summing_func *func = &self->funcs.v[func_nr - 1];
	unsigned octave = ftr_summary_octave(total_ns);
	struct ftr_call_sum *sum = octave_of(self, func, octave);

	if (sum == NULL)
		return;
	span_add(&func->total, total_ns, func->used == 0);
	span_add(&func->self, self_ns, func->used == 0);
	func->used |= FTR_BIT64(octave);
	sum->calls++;
	sum->total_ns += total_ns;
	sum->self_ns += self_ns;
	sum->nested_ns += is_nested ? total_ns : 0;
	sum->outermost_ns += is_outermost ? total_ns : 0;
}

/* ---- open calls ---- */

static struct ftr_summing_stack *stack_get(struct ftr_summing *self, struct ftr_summing_task *task,
					   uint32_t nr)
{
	if (ftr_vec_reach(&task->stacks, nr) < 0) {
		self->has_failed = true;
		return NULL;
	}
	return &task->stacks.v[nr];
}

static bool open_add(struct ftr_summing_stack *stack, uint32_t func)
{
	if (ftr_vec_extend(&stack->open, func) < 0)
		return false;
	stack->open.v[func - 1]++;
	return true;
}

/* @func 0: of a call whose ENTRY is missing. */
static void frame_push(struct ftr_summing *self, struct ftr_summing_stack *stack, uint32_t func,
		       uint64_t begin_ns)
{
	struct ftr_summing_frame frame = { .func = func, .begin_ns = begin_ns };

	if ((func != 0 && !open_add(stack, func)) || ftr_vec_push(&stack->frames, frame) < 0)
		self->has_failed = true;
}

static void frame_pop(struct ftr_summing *self, struct ftr_summing_stack *stack, uint64_t end_ns)
{
	struct ftr_summing_frame frame = stack->frames.v[--stack->frames.nr];
	uint64_t ns = end_ns > frame.begin_ns ? end_ns - frame.begin_ns : 0;
	uint64_t self_ns = ns > frame.child_ns ? ns - frame.child_ns : 0;
	size_t nr = stack->frames.nr;

	if (nr > 0)
		stack->frames.v[nr - 1].child_ns += ns;
	if (frame.func == 0)
		return;
	stack->open.v[frame.func - 1]--;
	call_count(self, frame.func, ns, self_ns, stack->open.v[frame.func - 1] > 0, nr == 0);
}

static void frames_close(struct ftr_summing *self, struct ftr_summing_stack *stack, size_t left,
			 uint64_t end_ns)
{
	while (stack->frames.nr > left)
		frame_pop(self, stack, end_ns);
}

/* How many calls are open before the record happens; readers: depth_for of utils/trace/calls.c. */
static size_t depth_for(const struct ftr_summing_task *task, const struct ftr_summing_stack *stack,
			uint64_t word, uint32_t func)
{
	bool is_exit = ftr_record_type(word) == FTR_RECORD_EXIT;
	size_t depth = ftr_record_depth(word), i;

	if (depth < FTR_RECORD_DEPTH_MAX && !task->is_switching)
		return depth + is_exit;
	if (!is_exit)
		return stack->frames.nr;
	for (i = stack->frames.nr; i > 0; i--) {
		if (stack->frames.v[i - 1].func == func)
			return i;
	}
	return stack->frames.nr + 1;
}

/* What is open before a forked child's first record. */
static void frames_inherit(struct ftr_summing *self, struct ftr_summing_stack *stack, size_t nr,
			   uint64_t begin_ns)
{
	struct ftr_summing_frame frame = { .is_inherited = true, .begin_ns = begin_ns };

	while (stack->frames.nr < nr && !self->has_failed)
		self->has_failed = ftr_vec_push(&stack->frames, frame) < 0;
}

static void take_entry(struct ftr_summing *self, struct ftr_summing_task *task,
		       struct ftr_summing_stack *stack, const struct ftr_record *record,
		       uint32_t func)
{
	size_t want = depth_for(task, stack, record->word, func);

	frames_close(self, stack, want, task->last_ns);
	while (stack->frames.nr < want && !self->has_failed)
		frame_push(self, stack, 0, task->last_ns);
	frame_push(self, stack, func, record->time);
}

static void take_exit(struct ftr_summing *self, struct ftr_summing_task *task,
		      struct ftr_summing_stack *stack, const struct ftr_record *record,
		      uint32_t func)
{
	size_t want = depth_for(task, stack, record->word, func);
	struct ftr_summing_frame *top;

	/* A setjmp returns again: what the longjmp left ends with it. */
	if (want <= stack->frames.nr && want > 0 && !task->has_lost &&
	    stack->frames.v[want - 1].func != func && stack->frames.v[want - 1].func != 0) {
		frames_close(self, stack, want - 1, record->time);
		return;
	}
	frames_close(self, stack, want, task->last_ns);
	top = stack->frames.nr == want ? &stack->frames.v[want - 1] : NULL;
	if (top != NULL && top->func != func && top->func != 0) {
		frame_pop(self, stack, task->last_ns);
		top = NULL;
	}
	if (top != NULL && top->func == 0 && !top->is_inherited && open_add(stack, func))
		top->func = func;
	while (stack->frames.nr + 1 < want && !self->has_failed)
		frame_push(self, stack, 0, task->last_ns);
	if (stack->frames.nr + 1 == want)
		frame_push(self, stack, func, task->last_ns);
	if (stack->frames.nr == want)
		frame_pop(self, stack, record->time);
}

/* What is open on the stack waited until now. */
static void stack_resume(struct ftr_summing_stack *stack, uint64_t now_ns)
{
	if (stack->away_ns != 0 && stack->frames.nr > 0 && now_ns > stack->away_ns)
		stack->frames.v[stack->frames.nr - 1].child_ns += now_ns - stack->away_ns;
	stack->away_ns = 0;
}

/* The thread goes on on another stack, or some of its calls turn out to be on one. */
static void take_stack(struct ftr_summing *self, struct ftr_summing_task *task,
		       const struct ftr_record *record)
{
	uint64_t id = ftr_record_addr(record->word);
	uint32_t nr = ftr_record_stack_nr(id), moved = ftr_record_stack_moved(id);
	struct ftr_summing_stack *to = stack_get(self, task, nr), *from;
	size_t i, left;

	if (to == NULL)
		return;
	from = &task->stacks.v[task->now];
	task->is_switching = true;
	if (ftr_record_stack_is_new(id)) {	/* what was there never returned */
		stack_resume(to, record->time);
		frames_close(self, to, 0, record->time);
	}
	if (nr == task->now)
		return;
	if (moved != 0) {
		left = moved < from->frames.nr ? from->frames.nr - moved : 0;
		for (i = left; i < from->frames.nr; i++)
			frame_push(self, to, from->frames.v[i].func, record->time);
		frames_close(self, from, left, record->time);
		to->away_ns = record->time;
		return;
	}
	from->away_ns = record->time;
	stack_resume(to, record->time);
	task->now = nr;
}

static void take_call(struct ftr_summing *self, struct ftr_summing_task *task, bool is_forked,
		      uint32_t place, const struct ftr_record *record)
{
	struct ftr_summing_stack *stack = stack_get(self, task, task->now);
	uint32_t func = place == 0 ? 0 :
				     func_of(self, place - 1, ftr_record_addr(record->word));

	if (stack == NULL || func == 0) {
		self->not_counted++;
		return;
	}
	if (task->last_ns == 0) {
		task->last_ns = record->time;
		if (is_forked)
			frames_inherit(self, stack, depth_for(task, stack, record->word, func),
				       record->time);
	}
	if (ftr_record_type(record->word) == FTR_RECORD_ENTRY)
		take_entry(self, task, stack, record, func);
	else
		take_exit(self, task, stack, record, func);
	task->has_lost = false;
	task->last_ns = record->time;
}

/* How long the record at @p is; 0: nothing tells. */
static size_t record_bytes(const struct ftr_record *record, size_t left)
{
	size_t bytes = sizeof(*record);
	uint16_t payload;

	if (!ftr_record_is_valid(record->word))
		return 0;
	if (!ftr_record_has_payload(record->word))
		return bytes;
	if (ftr_record_type(record->word) != FTR_RECORD_EVENT || left < bytes + sizeof(payload))
		return 0;
	memcpy(&payload, record + 1, sizeof(payload));
	return bytes + ftr_align_up(sizeof(payload) + payload, FTR_RECORD_FILE_ALIGN);
}

static struct ftr_summing_task *task_get(struct ftr_summing *self, int32_t tid)
{
	struct ftr_summing_task *task = ftr_hashmap_find(&self->tasks, (uint32_t)tid);

	if (task != NULL)
		return task;
	task = calloc(1, sizeof(*task));
	if (task != NULL && ftr_hashmap_set(&self->tasks, (uint32_t)tid, task) == 0)
		return task;
	free(task);
	self->has_failed = true;
	return NULL;
}

void ftr_summing_take(struct ftr_summing *self, int32_t tid, const struct ftr_summing_from *from,
		      const void *bytes, size_t len)
{
	struct ftr_summing_task *task = task_get(self, tid);
	uint32_t places[2] = { 0 };
	const uint8_t *p = bytes;
	size_t step;

	for (; task != NULL && len >= sizeof(struct ftr_record); p += step, len -= step) {
		const struct ftr_record *record = (const struct ftr_record *)p;
		enum ftr_record_type type = ftr_record_type(record->word);

		step = record_bytes(record, len);
		if (step == 0 || step > len) {
			self->not_counted++;	/* values, which --summary excludes */
			return;
		}
		if (type <= FTR_RECORD_EXIT) {
			bool is_since = record->time >= from->since_ns;

			if (places[is_since] == 0)
				places[is_since] = place_of(self, from->sid,
							    is_since ? from->since_ns :
								       from->before_ns);
			take_call(self, task, from->is_forked, places[is_since], record);
		}
		if (type == FTR_RECORD_LOST)
			task->has_lost = true;
		if (type == FTR_RECORD_EVENT &&
		    ftr_record_is_stack_id(ftr_record_addr(record->word)))
			take_stack(self, task, record);
	}
}

static void task_free(struct ftr_summing_task *task)
{
	size_t i;

	for (i = 0; i < task->stacks.nr; i++) {
		ftr_vec_fini(&task->stacks.v[i].frames);
		ftr_vec_fini(&task->stacks.v[i].open);
	}
	ftr_vec_fini(&task->stacks);
	free(task);
}

static void task_end(struct ftr_summing *self, struct ftr_summing_task *task)
{
	size_t i;

	for (i = 0; i < task->stacks.nr; i++) {
		struct ftr_summing_stack *stack = &task->stacks.v[i];

		frames_close(self, stack, 0, stack->away_ns != 0 ? stack->away_ns : task->last_ns);
	}
	task_free(task);
}

void ftr_summing_end_task(struct ftr_summing *self, int32_t tid)
{
	struct ftr_summing_task *task = ftr_hashmap_take(&self->tasks, (uint32_t)tid);

	if (task != NULL)
		task_end(self, task);
}

void ftr_summing_end_tasks(struct ftr_summing *self)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&self->tasks, &pos)) != NULL)
		task_end(self, slot->value);
	ftr_hashmap_fini(&self->tasks);
	ftr_hashmap_init(&self->tasks);
}

/* ---- the end of an interval ---- */

/* The index of the function's place in @block. */
static bool place_put(struct ftr_summing *self, const struct ftr_summing_func *func,
		      struct ftr_summary_block *block, uint64_t *index)
{
	struct ftr_summing_place *place = &self->places.v[func->place];

	if (place->in_block == 0) {
		if (ftr_vec_push(&block->places, place->place) < 0)
			return false;
		place->in_block = (uint32_t)block->places.nr;
	}
	*index = place->in_block - 1;
	return true;
}

static void func_put(struct ftr_summing *self, struct ftr_summing_func *func,
		     struct ftr_summary_block *block, struct ftr_summary_row *row)
{
	struct ftr_summary_key key = { .addr = func->addr };
	unsigned i;

	if (!place_put(self, func, block, &key.place)) {
		self->has_failed = true;
		return;
	}
	row->total = func->total;
	row->self = func->self;
	row->used = func->used;
	for (i = 0; i < FTR_SUMMING_PARTS; i++) {
		if (func->parts[i] == NULL)
			continue;
		memcpy(&row->octaves[i * PART_OCTAVES], func->parts[i],
		       PART_OCTAVES * sizeof(*func->parts[i]));
		memset(func->parts[i], 0, PART_OCTAVES * sizeof(*func->parts[i]));
	}
	ftr_summary_put(block, &key, row);
	func->used = 0;
}

static void names_free(struct ftr_summing *self)
{
	size_t i;
	unsigned part;

	for (i = 0; i < self->funcs.nr; i++) {
		for (part = 0; part < FTR_SUMMING_PARTS; part++)
			free(self->funcs.v[i].parts[part]);
	}
	ftr_vec_fini(&self->funcs);
	ftr_vec_fini(&self->places);
	ftr_hashmap_fini(&self->func_by_key);
	ftr_hashmap_fini(&self->place_by_key);
}

static void names_init(struct ftr_summing *self)
{
	memset(&self->funcs, 0, sizeof(self->funcs));
	memset(&self->places, 0, sizeof(self->places));
	ftr_hashmap_init(&self->func_by_key);
	ftr_hashmap_init(&self->place_by_key);
	memset(self->cache, 0, sizeof(self->cache));
}

static uint32_t func_keep(struct ftr_summing *self, const struct ftr_summing *old, uint32_t nr)
{
	const struct ftr_summing_func *func = &old->funcs.v[nr - 1];
	const struct ftr_summary_place *at = &old->places.v[func->place].place;
	uint32_t place = place_of(self, at->sid, at->at_ns);

	return place == 0 ? 0 : func_of(self, place - 1, func->addr);
}

static void stack_keep(struct ftr_summing *self, const struct ftr_summing *old,
		       struct ftr_summing_stack *stack)
{
	size_t i;

	memset(stack->open.v, 0, stack->open.nr * sizeof(*stack->open.v));
	for (i = 0; i < stack->frames.nr; i++) {
		uint32_t *func = &stack->frames.v[i].func;

		if (*func != 0)
			*func = func_keep(self, old, *func);
		if (*func != 0 && !open_add(stack, *func))
			self->has_failed = true;
	}
}

/* What execs or loads libraries for months would fill the memory. */
static void names_forget(struct ftr_summing *self, struct ftr_summing *old)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0, i;

	memcpy(old, self, sizeof(*old));
	names_init(self);
	while ((slot = ftr_hashmap_next(&self->tasks, &pos)) != NULL) {
		struct ftr_summing_task *task = slot->value;

		for (i = 0; i < task->stacks.nr; i++)
			stack_keep(self, old, &task->stacks.v[i]);
	}
	names_free(old);
}

bool ftr_summing_flush(struct ftr_summing *self, struct ftr_summary_block *block)
{
	struct ftr_summary_row row;
	struct ftr_summing *old;
	size_t i;

	block->places.nr = 0;
	block->row_nr = 0;
	ftr_strbuf_clear(&block->rows);
	for (i = 0; i < self->places.nr; i++)
		self->places.v[i].in_block = 0;
	for (i = 0; i < self->funcs.nr; i++) {
		if (self->funcs.v[i].used != 0)
			func_put(self, &self->funcs.v[i], block, &row);
	}
	if (self->funcs.nr > FTR_SUMMING_KEPT_MAX || self->places.nr > FTR_SUMMING_KEPT_MAX) {
		old = malloc(sizeof(*old));
		if (old != NULL)
			names_forget(self, old);
		free(old);
	}
	return block->row_nr != 0;
}

void ftr_summing_fini(struct ftr_summing *self)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&self->tasks, &pos)) != NULL)
		task_free(slot->value);
	ftr_hashmap_fini(&self->tasks);
	names_free(self);
}
