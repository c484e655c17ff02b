/* SPDX-License-Identifier: MIT */
/*
 * FXT reader, second walk: records become events of one stream in order of time.
 *
 * Complete records hold two events: their ends wait on the task's stack, and the tasks in a heap by
 * the end that comes next.  An end comes before whatever begins at the same time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt/read_source.h"
#include "utils/base/bits.h"
#include "utils/trace/task.h"

/* ---- stacks of open calls, in a heap ---- */

static inline bool is_before(const struct fxt_heaped *a, const struct fxt_heaped *b)
{
	return a->end_ns < b->end_ns || (a->end_ns == b->end_ns && a->task_id < b->task_id);
}

static inline void heap_put(struct fxt_stacks *stacks, size_t pos, struct fxt_heaped heaped)
{
	stacks->heap.v[pos] = heaped;
	heaped.stack->heap_pos = pos;
}

void fxt_heap_up(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	struct fxt_heaped *heap = stacks->heap.v;
	size_t pos = stack->heap_pos;
	struct fxt_heaped moved = heap[pos];

	while (pos > 0 && is_before(&moved, &heap[(pos - 1) / 2])) {
		heap_put(stacks, pos, heap[(pos - 1) / 2]);
		pos = (pos - 1) / 2;
	}
	heap_put(stacks, pos, moved);
}

void fxt_heap_down(struct fxt_stacks *stacks, struct fxt_stack *stack)
{
	struct fxt_heaped *heap = stacks->heap.v;
	size_t pos = stack->heap_pos, nr = stacks->heap.nr;
	struct fxt_heaped moved = heap[pos];

	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap_put(stacks, pos, heap[child]);
		pos = child;
	}
	heap_put(stacks, pos, moved);
}

struct fxt_stack *fxt_stack_add(struct fxt_stacks *stacks, struct ftr_task *task)
{
	struct fxt_stack *stack;

	if (ftr_vec_reach(&stacks->by_task, task->id) < 0)
		return NULL;
	stack = calloc(1, sizeof(*stack));
	if (stack == NULL || ftr_vec_reserve(&stacks->heap, stacks->heap.nr + 1) < 0) {
		free(stack);
		return NULL;
	}
	stack->task = task;
	stack->heap_pos = stacks->heap.nr++;
	stacks->heap.v[stack->heap_pos] = (struct fxt_heaped){ FXT_END_OPEN, task->id, stack };
	stacks->by_task.v[task->id] = stack;
	fxt_heap_up(stacks, stack);
	return stack;
}

void fxt_stacks_fini(struct fxt_stacks *stacks)
{
	for (size_t i = 0; i < stacks->by_task.nr; i++) {
		if (stacks->by_task.v[i] != NULL)
			ftr_vec_fini(&stacks->by_task.v[i]->frames);
		free(stacks->by_task.v[i]);
	}
	ftr_vec_fini(&stacks->by_task);
	ftr_vec_fini(&stacks->heap);
}

void fxt_stack_cut(struct fxt_stacks *stacks, struct fxt_stack *stack, uint64_t end_ns)
{
	stack->frames.v[stack->frames.nr - 1].end_ns = end_ns;
	stacks->heap.v[stack->heap_pos].end_ns = end_ns;
	fxt_heap_up(stacks, stack);
}

/* ---- the source ---- */

#define PAYLOAD_ROOM FTR_MIB(1)	/* of the payloads of a batch */

/*
 * Take more pairs, and settle those of whose times all are known, or that are too many.  1, 0 at
 * the end, -errno.
 */
static int order_fill(struct fxt_source *self)
{
	struct ftr_sort_pair *order = self->order;
	size_t kept = self->order_nr - self->settled_nr, settled;
	ssize_t nr;

	memmove(order, order + self->settled_nr, kept * sizeof(*order));
	nr = ftr_sorter_take(self->r->order, order + kept, FTR_SOURCE_BATCH - kept, self->err);
	if (nr < 0)
		return (int)nr;
	self->order_pos = 0;
	self->order_nr = settled = kept + (size_t)nr;
	for (size_t i = kept; i < self->order_nr; i++)	/* they may be anywhere */
		__builtin_prefetch(self->r->in.data + order[i].value);
	while (nr > 0 && settled > 0 && order[settled - 1].key == order[self->order_nr - 1].key)
		settled--;
	if (settled == 0 && self->order_nr == FTR_SOURCE_BATCH)
		settled = self->order_nr;
	self->settled_nr = settled;
	fxt_order_ties(self->r, order, settled);
	return self->order_nr > 0;
}

/* Where the next record of an order other than the file's is: 1, 0 at the end, or -errno. */
static int order_next(struct fxt_source *self)
{
	while (self->order_pos == self->settled_nr) {
		int ret = order_fill(self);

		if (ret <= 0)
			return ret;
	}
	self->offset = self->order[self->order_pos++].value;
	return 1;
}

/* Is there a record?  It stays until record_done().  1, 0 at the end, or -errno. */
static int record_fetch(struct fxt_source *self)
{
	struct fxt_reader *r = self->r;
	struct fxt_record_at at;

	while (!self->has_record) {
		int ret = r->is_unordered ? order_next(self) : 1;
		unsigned type;

		if (ret <= 0 || !fxt_record_next(r, &self->offset, &at, false))
			return ret < 0 ? ret : 0;
		if (!r->is_unordered)
			fxt_forget(r, self->offset);
		type = fxt_record_type(at.header);
		if (type != FXT_EVENT && type != FXT_SCHEDULING && type != FXT_LOG) {
			if (fxt_table_take(r, &at) == -ENOMEM)
				return -ENOMEM;
			self->known_age++;
			continue;
		}
		self->has_record = fxt_decode(r, &at, &self->record);
		r->damaged_nr += !self->has_record;
		self->step = 0;
	}
	return 1;
}

static void record_done(struct fxt_source *self)
{
	self->has_record = false;
}

static struct ftr_func *func_make(struct fxt_reader *r, struct fxt_text *category,
				  const struct fxt_text *name, const struct fxt_text *label)
{
	struct ftr_func *func = fxt_func_by_symbol(r, category, name, label);

	if (func != NULL)
		return func;
	if (category->module == NULL && category->str->len > 0)
		category->module = ftr_trace_module_get(r->trace, category->str->s, NULL);
	func = ftr_trace_func_by_name(r->trace, category->module, name->str->s, name->str->len);
	if (func == NULL)
		r->is_failed = true;
	else
		func->sysid = (uint8_t)ftr_syscall_of_func(
			category->str->s, ftr_slice_make(name->str->s, name->str->len));
	return func;
}

static struct ftr_func *func_get(struct fxt_reader *r, struct fxt_text *category,
				 struct fxt_text *name)
{
	if (__builtin_expect(name->func != NULL && name->func_category == category &&
			     name->func_name == NULL, 1))
		return name->func;
	name->func = func_make(r, category, name, r->empty);
	name->func_category = category;
	name->func_name = NULL;
	return name->func;
}

/* One of several functions of a name. */
static struct ftr_func *func_of_label(struct fxt_reader *r, struct fxt_text *category,
				      const struct fxt_text *name, struct fxt_text *label)
{
	if (label->func != NULL && label->func_category == category && label->func_name == name)
		return label->func;
	label->func = func_make(r, category, name, label);
	label->func_category = category;
	label->func_name = name;
	return label->func;
}

static void func_set_loc(struct fxt_reader *r, struct ftr_func *func, const struct fxt_text *loc)
{
	const char *colon = strrchr(loc->str->s, ':');

	if (func->src_file != NULL || colon == NULL)
		return;
	func->src_file = ftr_arena_strndup(&r->trace->arena, loc->str->s,
					   (size_t)(colon - loc->str->s));
	func->src_line = (uint32_t)strtoul(colon + 1, NULL, 10);
}

void fxt_event_args(struct fxt_source *self, struct ftr_event *ev, size_t nr,
		    struct fxt_args_out *out)
{
	*out = (struct fxt_args_out){ .payload = &self->payloads[nr],
				      .bytes = self->payload_bytes + self->payload_used };
	if (self->record.arg_nr == 0 || !fxt_args_read(self->r, &self->record, out))
		return;
	self->payload_used += out->payload->len;
	ev->payload = out->payload;
}

/* An exit of the task's innermost call. */
static void exit_make(struct fxt_source *self, struct ftr_event *ev, struct ftr_task *task,
		      uint64_t time_ns)
{
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, task);
	const struct fxt_frame *frame = &stack->frames.v[stack->frames.nr - 1];

	memset(ev, 0, sizeof(*ev));
	ev->time_ns = time_ns;
	ev->task = task;
	ev->type = FTR_EVENT_EXIT;
	ev->call.func = frame->func;
	ev->call.addr = frame->addr;
	ev->depth = (uint32_t)stack->frames.nr - 1;
	fxt_stack_pop(&self->stacks, stack);
}

static inline struct fxt_known *known_slot(struct fxt_source *self, uint64_t header)
{
	return &self->known[ftr_hash_u64(fxt_event_refs(header)) % FXT_KNOWN_NR];
}

/*
 * Remember what the record's refs stand for, if they are all of the tables, and nothing needs
 * conversion.
 */
static void known_put(struct fxt_source *self, struct fxt_known known)
{
	uint64_t header = self->record.at.header;
	uint64_t texts = fxt_event_category_ref(header) | fxt_event_name_ref(header);
	bool is_inline = fxt_event_thread_ref(header) == 0 || (texts & FXT_REF_INLINE);

	if ((header & FXT_PLAIN_MASK) == FXT_PLAIN_CALL && !is_inline &&
	    fxt_provider_at(self->r, self->record.at.offset)->ticks_per_s == FXT_TICKS_PER_S)
		*known_slot(self, header) = known;
}

static int take_entry(struct fxt_source *self, size_t nr, bool is_complete)
{
	struct ftr_event *ev = &self->evs[nr];
	const struct fxt_decoded *record = &self->record;
	struct ftr_func *func = func_get(self->r, record->category, record->name);
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, record->task);
	uint64_t end_ns = is_complete ? record->extra : FXT_END_OPEN, until_ns;

	if (func == NULL || stack == NULL)
		return -ENOMEM;
	if (__builtin_expect(end_ns < record->time_ns, 0)) {
		self->r->damaged_nr++;
		return 0;
	}
	fxt_event_begin(self, ev, FTR_EVENT_ENTRY);
	ev->depth = (uint32_t)stack->frames.nr;
	if (__builtin_expect(record->arg_nr != 0, 0)) {
		struct fxt_args_out out;

		fxt_event_args(self, ev, nr, &out);
		ev->flags = out.flags;
		if (out.symbol != NULL) {
			func = func_of_label(self->r, record->category, record->name, out.symbol);
			if (func == NULL)
				return -ENOMEM;
		}
		if (out.loc != NULL)
			func_set_loc(self->r, func, out.loc);
	}
	ev->call.func = func;
	ev->call.addr = fxt_call_addr(self->r, func, record->task, record->time_ns, &until_ns);
	known_put(self, (struct fxt_known){ fxt_event_refs(record->at.header), self->known_age,
					    func, ev->call.addr, until_ns, stack });
	if (fxt_stack_push(&self->stacks, stack,
			   (struct fxt_frame){
				   .func = func, .addr = ev->call.addr, .end_ns = end_ns },
			   &self->r->overlap_nr) < 0)
		return -ENOMEM;
	return 1;
}

/*
 * What most of a long trace is: calls without arguments whose refs are known, and their ends. Fills
 * the batch from @nr on; returns how far it came: the next record, or end, is for the others.  Or
 * -ENOMEM.
 */
static ssize_t take_plain_calls(struct fxt_source *self, size_t nr)
{
	const struct fxt_reader *r = self->r;
	uint64_t offset = self->offset;

	while (nr < FTR_SOURCE_BATCH && r->in.size - offset >= 24) {
		uint64_t header = fxt_word(r, offset);
		uint64_t time_ns = fxt_word(r, offset + 8);
		uint64_t end_ns = fxt_word(r, offset + 16), exit_ns;
		const struct fxt_known *known = known_slot(self, header);
		struct ftr_event *ev = &self->evs[nr];
		struct ftr_task *task = NULL;

		if (__builtin_expect((header & FXT_PLAIN_MASK) != FXT_PLAIN_CALL ||
					     known->refs != fxt_event_refs(header) ||
					     known->age != self->known_age || end_ns < time_ns ||
					     time_ns >= known->until_ns,
				     0))
			break;
		exit_ns = fxt_stacks_next_end(&self->stacks, &task);
		if (exit_ns <= time_ns) {
			exit_make(self, ev, task, exit_ns);
			nr++;
			continue;
		}
		*ev = (struct ftr_event){ .time_ns = time_ns, .task = known->stack->task,
					  .type = FTR_EVENT_ENTRY };
		ev->call.func = known->func;
		ev->call.addr = known->addr;
		ev->depth = (uint32_t)known->stack->frames.nr;
		if (fxt_stack_push(&self->stacks, known->stack,
				   (struct fxt_frame){ .func = known->func,
						       .addr = known->addr,
						       .end_ns = end_ns },
				   &self->r->overlap_nr) < 0)
			return -ENOMEM;
		fxt_prefetch(r, offset);
		offset += 24;
		nr++;
	}
	self->offset = offset;
	return (ssize_t)nr;
}

/* Closes the innermost call that has no end of its own; those inside of it end with it. */
static int take_end(struct fxt_source *self, size_t nr)
{
	struct fxt_stack *stack = fxt_stack_of(&self->stacks, self->record.task);
	struct fxt_args_out out;

	if (stack == NULL)
		return -ENOMEM;
	if (!fxt_stack_has_open(stack)) {
		self->r->stray_nr++;
		return 0;
	}
	exit_make(self, &self->evs[nr], self->record.task, self->record.time_ns);
	fxt_event_args(self, &self->evs[nr], nr, &out);
	self->evs[nr].flags = out.flags;
	fxt_syscall_set(self, &self->evs[nr]);
	return 1;
}

/* An end that comes while a complete call inside lasts longer: that one is cut, and ends first. */
static bool end_waits(struct fxt_source *self)
{
	const struct fxt_decoded *record = &self->record;
	struct fxt_stack *stack;

	if (fxt_record_type(record->at.header) != FXT_EVENT ||
	    fxt_event_type(record->at.header) != FXT_DURATION_END)
		return false;
	stack = fxt_stack_of(&self->stacks, record->task);
	if (stack == NULL || !fxt_stack_has_open(stack) || fxt_stack_top_is_open(stack))
		return false;
	self->r->overlap_nr++;
	fxt_stack_cut(&self->stacks, stack, record->time_ns);
	return true;
}

static int take_event(struct fxt_source *self, size_t nr)
{
	enum fxt_event type = (enum fxt_event)fxt_event_type(self->record.at.header);

	switch (type) {
	case FXT_DURATION_COMPLETE:
		return take_entry(self, nr, true);
	case FXT_DURATION_BEGIN:
		return take_entry(self, nr, false);
	case FXT_DURATION_END:
		return take_end(self, nr);
	default:
		return fxt_take_other(self, nr, type);
	}
}

/* Make the next event of the record: 1 = made, 0 = none, or -ENOMEM. */
static int record_take(struct fxt_source *self, size_t nr)
{
	int ret;

	switch (fxt_record_type(self->record.at.header)) {
	case FXT_EVENT:
		ret = take_event(self, nr);
		break;
	case FXT_LOG:
		ret = fxt_take_log(self, nr);
		break;
	default:
		ret = fxt_take_scheduling(self, nr, self->step);
		if (ret >= 0 && self->step++ == 0)
			return ret;
		break;
	}
	record_done(self);
	return ret;
}

/* The next event: 1 = made, 0 = what came makes none, or -errno; -ENOENT at the end. */
static int take_next(struct fxt_source *self, size_t nr)
{
	int has_record = self->has_record ? 1 : record_fetch(self);
	struct ftr_task *task;
	uint64_t end_ns = fxt_stacks_next_end(&self->stacks, &task);

	if (has_record < 0)
		return has_record;
	if (end_ns != FXT_END_OPEN && (!has_record || end_ns <= self->record.time_ns)) {
		exit_make(self, &self->evs[nr], task, end_ns);
		return 1;
	}
	if (!has_record)
		return -ENOENT;
	if (__builtin_expect(end_waits(self), 0))
		return 0;
	return record_take(self, nr);
}

static ssize_t fxt_source_next(struct ftr_source *source, struct ftr_event **evs,
			       struct ftr_err *err)
{
	struct fxt_source *self = (struct fxt_source *)source;
	ssize_t nr = 0;

	self->payload_used = 0;
	self->err = err;
	while (nr >= 0 && nr < FTR_SOURCE_BATCH &&
	       PAYLOAD_ROOM - self->payload_used >= 2 * FXT_PAYLOAD_MAX) {
		int ret = take_next(self, (size_t)nr);

		if (ret == -ENOENT) {
			self->r->is_ended = true;
			break;
		}
		nr = ret < 0 ? ret : nr + ret;
		if (nr >= 0 && !self->has_record && !self->r->is_unordered)
			nr = take_plain_calls(self, (size_t)nr);
	}
	if (nr == -ENOMEM || self->r->is_failed)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->r->in.name);
	if (nr < 0)
		ftr_err_prefix(err, "%s", self->r->in.name);
	*evs = self->evs;
	return nr;
}

static void fxt_source_free(struct ftr_source *source)
{
	struct fxt_source *self = (struct fxt_source *)source;

	fxt_stacks_fini(&self->stacks);
	ftr_hashmap_fini(&self->spans);
	free(self->payload_bytes);
	free(self);
}

static const struct ftr_source_ops fxt_source_ops = {
	.next = fxt_source_next,
	.free = fxt_source_free,
};

struct ftr_source *fxt_source_new(struct fxt_reader *r)
{
	struct fxt_source *self = aligned_alloc(FTR_CACHE_LINE, sizeof(*self));

	if (self == NULL)
		return NULL;
	memset(self, 0, sizeof(*self));
	self->base.ops = &fxt_source_ops;
	self->r = r;
	self->payload_bytes = malloc(PAYLOAD_ROOM);
	if (self->payload_bytes == NULL) {
		free(self);
		return NULL;
	}
	return &self->base;
}
