/* SPDX-License-Identifier: MIT */
/* FXT writer: events that are no calls, and the shape all event records have. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/fxt/write.h"
#include "utils/trace/counter.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/trace.h"

static void put_part(struct fxt_writer *w, uint64_t thread, const struct fxt_shape *shape,
		     uint32_t part)
{
	bool has_args = part < w->args.part_nr;
	uint32_t arg_words = has_args ? w->args.parts[part].words : 0;
	uint64_t arg_nr = has_args ? w->args.parts[part].nr : 0;
	uint32_t words = 2 + arg_words + shape->has_extra;
	uint64_t *p = fxt_window_put(&w->window, words);

	if (part == 0)
		w->event_pos = fxt_window_last(&w->window, words);
	*p++ = fxt_header(FXT_EVENT, words) | fxt_event_type_bits(shape->type) |
	       fxt_event_arg_nr_bits(arg_nr) | fxt_event_thread_ref_bits(thread) |
	       fxt_event_category_ref_bits(shape->category) | fxt_event_name_ref_bits(shape->name);
	*p++ = shape->time_ns;
	if (has_args)
		memcpy(p, w->args.words + w->args.parts[part].start, arg_words * sizeof(*p));
	if (shape->has_extra)
		p[arg_words] = shape->extra;
}

/* Refs of a category and a name; both stay valid while an event is put together. */
static int shape_name(struct fxt_writer *w, struct fxt_shape *shape, const char *category,
		      size_t category_len, const char *name)
{
	uint32_t category_id, name_id;

	if (fxt_string_id(w, category, category_len, &category_id) < 0 ||
	    fxt_string_id(w, name, strlen(name), &name_id) < 0)
		return -ENOMEM;
	shape->category = fxt_string_ref(w, category_id);
	shape->name = fxt_string_ref(w, name_id);
	return 0;
}

int fxt_shape_own(struct fxt_writer *w, struct fxt_shape *shape, const char *name)
{
	return shape_name(w, shape, FXT_CATEGORY, strlen(FXT_CATEGORY), name);
}

int fxt_put_event(struct fxt_writer *w, const struct ftr_task *task, const struct fxt_shape *shape)
{
	struct fxt_shape more = { .type = FXT_INSTANT, .time_ns = shape->time_ns };
	uint64_t thread;

	if (w->args.part_nr > 1) {
		w->split_nr++;
		if (fxt_shape_own(w, &more, FXT_NAME_MORE_ARGS) < 0)
			return -ENOMEM;
	}
	thread = fxt_thread_ref(w, task);
	put_part(w, thread, shape, 0);
	for (uint32_t part = 1; part < w->args.part_nr; part++)
		put_part(w, thread, &more, part);
	return 0;
}

static int begin_event(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_task *task = fxt_task_get(w, ev->task);

	if (task == NULL)
		return -ENOMEM;
	task->last_ns = ev->time_ns;
	fxt_args_clear(w);
	return 0;
}

/* The other task of a context switch is unknown. */
static int write_switch(struct fxt_writer *w, const struct ftr_event *ev, bool is_out)
{
	static const char *const weights[] = { "outgoing_weight", "incoming_weight" };
	bool is_preempted = ev->flags & FTR_EVENT_PREEMPTED;
	uint64_t state = !is_out || is_preempted ? FXT_STATE_NEW : FXT_STATE_BLOCKED;
	uint64_t cpu = ev->point.cpu_nr == 0 ? ev->task->id : ev->point.cpu_nr - 1u;
	uint64_t tid = (uint32_t)ev->task->tid;
	uint64_t *p;

	if (fxt_arg_i64(w, weights[is_out], FXT_IDLE_WEIGHT) < 0)
		return -ENOMEM;
	p = fxt_window_put(&w->window, 4 + w->args.nr_words);
	p[0] = fxt_header(FXT_SCHEDULING, 4 + w->args.nr_words) | fxt_sched_arg_nr_bits(1) |
	       fxt_sched_cpu_bits((uint16_t)cpu) | fxt_sched_state_bits(state) |
	       fxt_sched_type_bits(FXT_SCHED_SWITCH);
	p[1] = ev->time_ns;
	p[2] = is_out ? tid : 0;
	p[3] = is_out ? 0 : tid;
	memcpy(p + 4, w->args.words, w->args.nr_words * sizeof(*p));
	return 0;
}

static int value_args(struct fxt_writer *w, const struct ftr_event_kind *kind,
		      const struct ftr_payload *payload)
{
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < kind->value_nr; i++) {
		uint64_t value = ftr_get_u64(payload->data + 8 * i, payload->is_big_endian);

		ret = kind->data == FTR_EVENT_DATA_DIFFERENCES ?
			fxt_arg_i64(w, kind->labels[i], (int64_t)value) :
			fxt_arg_u64(w, kind->labels[i], value);
	}
	return ret;
}

/*
 * Of this shape and in this order our reader knows it again; viewers see an instant and its text.
 */
static int tracepoint_args(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	int ret = fxt_arg_u64(w, FXT_KEY_TRACEPOINT, ev->point.id);

	if (ret == 0 && ev->point.cpu_nr != 0)
		ret = fxt_arg_u64(w, FXT_KEY_CPU, ev->point.cpu_nr - 1u);
	if (ret == 0 && payload != NULL && payload->len > 0)
		ret = fxt_arg_string(w, FXT_KEY_TEXT, (const char *)payload->data, payload->len);
	return ret;
}

/* The functions of a sample's stack; return addresses lie behind the calls. */
static int symbols_of_stack(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_payload *data = ev->payload;
	int ret = 0;

	for (size_t at = 0; ret == 0 && at + sizeof(uint64_t) <= data->len; at += sizeof(uint64_t))
		ret = fxt_func_at(w, ev, ftr_get_u64(data->data + at, data->is_big_endian) -
						 (at > 0));
	return ret;
}

/* What the data's address is of, so that it has its name. */
static int symbol_of_data(struct fxt_writer *w, const struct ftr_event *ev,
			  const struct ftr_event_kind *kind)
{
	const struct ftr_payload *data = ev->payload;

	if (kind != NULL && kind->data == FTR_EVENT_DATA_STACK && data->spec == NULL)
		return symbols_of_stack(w, ev);
	if (kind == NULL || data->len < sizeof(uint64_t) ||
	    w->trace->info.elf_class == ELFCLASS32 ||
	    (kind->data != FTR_EVENT_DATA_VARIABLE && kind->data != FTR_EVENT_DATA_ADDRESS))
		return 0;
	return fxt_func_at(w, ev, ftr_get_u64(data->data, data->is_big_endian));
}

static int point_args(struct fxt_writer *w, const struct ftr_event *ev,
		      const struct ftr_event_kind *kind)
{
	const struct ftr_payload *payload = ev->payload;

	if (ftr_event_is_tracepoint(ev) && (payload == NULL || payload->spec == NULL))
		return tracepoint_args(w, ev);
	if (kind != NULL && kind->value_nr == 0 && ev->point.cpu_nr != 0 &&
	    fxt_arg_u64(w, FXT_KEY_CPU, ev->point.cpu_nr - 1u) < 0)
		return -ENOMEM;
	if (payload == NULL)
		return 0;
	if (ftr_counter_has_values(ev, kind))
		return value_args(w, kind, payload);
	if (symbol_of_data(w, ev, kind) < 0)
		return -ENOMEM;
	if (kind != NULL && payload->spec == NULL && (kind->data == FTR_EVENT_DATA_TEXT ||
						      kind->data == FTR_EVENT_DATA_TASK_NAME))
		return fxt_arg_string(w, FXT_KEY_TEXT, (const char *)payload->data, payload->len);
	return fxt_args_payload(w, ev);
}

static const struct {
	enum fxt_event type;
	bool has_id;
} point_types[] = {
	[FTR_POINT_INSTANT]	  = { FXT_INSTANT, false },
	[FTR_POINT_COUNTER]	  = { FXT_COUNTER, true },
	[FTR_POINT_ASYNC_BEGIN]	  = { FXT_ASYNC_BEGIN, true },
	[FTR_POINT_ASYNC_INSTANT] = { FXT_ASYNC_INSTANT, true },
	[FTR_POINT_ASYNC_END]	  = { FXT_ASYNC_END, true },
	[FTR_POINT_FLOW_BEGIN]	  = { FXT_FLOW_BEGIN, true },
	[FTR_POINT_FLOW_STEP]	  = { FXT_FLOW_STEP, true },
	[FTR_POINT_FLOW_END]	  = { FXT_FLOW_END, true },
};

/* Counters of one name on several threads are distinguished by their id, the tid. */
static void point_shape(const struct ftr_event *ev, const struct ftr_event_kind *kind,
			struct fxt_shape *shape)
{
	bool is_counter = ftr_counter_has_values(ev, kind);
	unsigned phase = is_counter ? FTR_POINT_COUNTER : ev->point.kind;

	shape->type = point_types[phase].type;
	shape->has_extra = point_types[phase].has_id;
	shape->extra = is_counter ? (uint32_t)ev->task->tid : ev->point.id;
	shape->time_ns = ev->time_ns;
}

/* The colon between category and name, neither of which is empty; NULL = there is no category. */
static const char *category_end(const char *name)
{
	const char *colon = name[0] == '\0' ? NULL : strchr(name + 1, ':');

	return colon == NULL || colon[1] == '\0' ? NULL : colon;
}

static void put_log(struct fxt_writer *w, const struct ftr_event *ev, const char *text)
{
	uint64_t thread = fxt_thread_ref(w, ev->task);
	uint32_t bytes, words;
	uint64_t *p;

	text = fxt_text_clean(w, text, strlen(text), FXT_TEXT_MAX, &bytes);
	words = 2 + fxt_text_words(bytes);
	p = fxt_window_put(&w->window, words);
	p[0] = fxt_header(FXT_LOG, words) | fxt_log_len_bits(bytes) |
	       fxt_log_thread_ref_bits(thread);
	p[1] = ev->time_ns;
	fxt_put_text(p + 2, text, bytes);
}

/* The task waited for room in its ring, or does no more. */
static void put_stall(struct fxt_writer *w, const struct ftr_event *ev)
{
	bool is_begin = ftr_event_kind_id(ev) == FTR_EVENT_ID_STALL_BEGIN;

	put_log(w, ev, is_begin ? FXT_LOG_STALL "begin" : FXT_LOG_STALL "end");
}

int fxt_write_point(struct fxt_writer *w, const struct ftr_event *ev)
{
	uint64_t id = ftr_event_kind_id(ev);
	const struct ftr_event_kind *kind = id == 0 ? NULL : ftr_event_kind_by_id(id);
	const char *colon = category_end(ev->point.name);
	struct fxt_shape shape;
	int ret = begin_event(w, ev);

	if (ret < 0)
		return ret;
	if (ftr_event_is_sched_in(ev) || ftr_event_is_sched_out(ev))
		return write_switch(w, ev, ftr_event_is_sched_out(ev));
	if (id == FTR_EVENT_ID_TASK_NEW)
		fxt_flow_made(w, ev->task);
	point_shape(ev, kind, &shape);
	if (colon == NULL)
		ret = shape_name(w, &shape, "", 0, ev->point.name);
	else
		ret = shape_name(w, &shape, ev->point.name, (size_t)(colon - ev->point.name),
				 colon + 1);
	if (ret == 0)
		ret = point_args(w, ev, kind);
	if (ret == 0)
		ret = fxt_put_event(w, ev->task, &shape);
	if (ret == 0 && ftr_event_id_is_stall(id))
		put_stall(w, ev);
	return ret < 0 ? ret : fxt_write_syscall(w, ev);
}

/* For other readers: the provider's event and a log line. */
static void log_lost(struct fxt_writer *w, const struct ftr_event *ev)
{
	char text[FTR_EVENT_LOST_TEXT_MAX];

	if (ev->lost.source == FTR_LOST_OF_TASK) {
		*fxt_window_put(&w->window, 1) = fxt_header(FXT_METADATA, 1) |
						 fxt_metadata_type_bits(FXT_PROVIDER_EVENT) |
						 fxt_provider_id_bits(FXT_PROVIDER_ID);
		snprintf(text, sizeof(text), FXT_LOG_LOST "%" PRIu64, ev->lost.nr);
	} else {
		ftr_event_lost_text(ev, text);
	}
	put_log(w, ev, text);
}

/* For viewers, an instant. */
int fxt_write_lost(struct fxt_writer *w, const struct ftr_event *ev)
{
	static const char *const names[FTR_LOST_SOURCES] = {
		[FTR_LOST_OF_TASK] = FXT_NAME_LOST, [FTR_LOST_OF_PERF] = FXT_NAME_LOST_PERF,
		[FTR_LOST_OF_KERNEL] = FXT_NAME_LOST_KERNEL,
	};
	struct fxt_shape shape = { .type = FXT_INSTANT, .time_ns = ev->time_ns };
	int ret = begin_event(w, ev);

	if (ret == 0)
		ret = fxt_shape_own(w, &shape, names[ev->lost.source]);
	if (ret == 0)
		ret = fxt_arg_u64(w, FXT_KEY_RECORDS, ev->lost.nr);
	if (ret == 0 && ev->lost.cpu_nr != 0)
		ret = fxt_arg_u64(w, FXT_KEY_CPU, ev->lost.cpu_nr - 1u);
	if (ret == 0)
		ret = fxt_put_event(w, ev->task, &shape);
	if (ret == 0)
		log_lost(w, ev);
	return ret;
}

int fxt_write_message(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_shape shape = { .type = FXT_INSTANT, .time_ns = ev->time_ns };
	int ret = begin_event(w, ev);

	if (ret == 0)
		ret = fxt_shape_own(w, &shape, FXT_NAME_MESSAGE);
	if (ret == 0)
		ret = fxt_arg_string(w, FXT_KEY_TEXT, ev->message.text, strlen(ev->message.text));
	if (ret == 0)
		ret = fxt_put_event(w, ev->task, &shape);
	if (ret < 0)
		return ret;
	put_log(w, ev, ev->message.text);
	return 0;
}

/*
 * ---- arrows from the call that made a task to the task's first call ----
 *
 * The trace knows which task forked another.  A thread whose beginning the kernel reported was made
 * in the call of pthread_create or the like that was open at that time in its maker.  Of others
 * only the order is known: where all such calls were recorded, they go with the threads in the
 * order of their ids; else a thread goes with the last such call before it.
 */

struct fxt_maker {
	FTR_VEC(uint32_t) flows;	/* of calls that make a thread, in order; 0 = taken */
	FTR_VEC(int32_t) tids;		/* of the process's threads but the first, ascending */
};

bool fxt_func_makes_thread(const char *name)
{
	static const char *const names[] = { "pthread_create", "thrd_create",
					     "std::thread::_M_start_thread" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* @child: the task being made; NULL = not known yet, or it makes this call. */
static int put_flow(struct fxt_writer *w, const struct ftr_task *task, struct fxt_shape shape,
		    const char *name, const struct ftr_task *child)
{
	int ret = fxt_shape_own(w, &shape, name);

	fxt_args_clear(w);
	if (ret == 0 && child != NULL)
		ret = fxt_arg_word(w, FXT_KEY_CHILD, FXT_ARG_KOID, (uint32_t)child->tid);
	return ret < 0 ? ret : fxt_put_event(w, task, &shape);
}

static struct fxt_shape flow_shape(enum fxt_event type, uint64_t time_ns, uint32_t flow)
{
	return (struct fxt_shape){ .type = type, .time_ns = time_ns, .has_extra = true,
				   .extra = FXT_FLOW_FORK | flow };
}

int fxt_write_fork(struct fxt_writer *w, const struct ftr_event *ev)
{
	if (fxt_task_get(w, ev->fork.peer) == NULL || fxt_task_get(w, ev->task) == NULL)
		return -ENOMEM;
	w->tasks.v[ev->task->id].last_ns = ev->time_ns;
	w->tasks.v[ev->fork.peer->id].flow_id = ++w->flow_nr;
	w->tasks.v[ev->fork.peer->id].flow_is_fork = true;
	return put_flow(w, ev->task, flow_shape(FXT_FLOW_BEGIN, ev->time_ns, w->flow_nr),
			FXT_NAME_FORK, ev->fork.peer);
}

static int compare_tids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

static struct fxt_maker *maker_new(struct fxt_writer *w, int32_t pid)
{
	struct fxt_maker *maker = calloc(1, sizeof(*maker));

	if (maker == NULL || ftr_hashmap_set(&w->makers, (uint32_t)pid, maker) < 0) {
		free(maker);
		return NULL;
	}
	for (size_t i = 0; i < w->trace->tasks.nr; i++) {
		const struct ftr_task *task = w->trace->tasks.v[i];

		if (task->pid == pid && !ftr_task_is_main(task) &&
		    ftr_vec_push(&maker->tids, task->tid) < 0)
			return NULL;
	}
	if (maker->tids.nr > 1)
		qsort(maker->tids.v, maker->tids.nr, sizeof(*maker->tids.v), compare_tids);
	return maker;
}

/* One call that makes a thread may make another one do it: the outer one is meant. */
static bool is_inside_maker(const struct fxt_task *task)
{
	return task->maker_depth < task->open.nr &&
	       task->open.v[task->maker_depth] == task->maker_pos;
}

int fxt_flow_thread(struct fxt_writer *w, const struct ftr_event *ev)
{
	struct fxt_maker *maker = ftr_hashmap_find(&w->makers, (uint32_t)ev->task->pid);
	struct fxt_task *task = &w->tasks.v[ev->task->id];

	if (task->maker_depth < task->open.nr - 1 && is_inside_maker(task))
		return 0;
	task->maker_depth = (uint32_t)task->open.nr - 1;
	task->maker_pos = task->open.v[task->maker_depth];
	if (maker == NULL)
		maker = maker_new(w, ev->task->pid);
	if (maker == NULL || ftr_vec_push(&maker->flows, ++w->flow_nr) < 0)
		return fxt_no_memory(w);
	task->maker_flow = w->flow_nr;
	return put_flow(w, ev->task, flow_shape(FXT_FLOW_BEGIN, ev->time_ns, w->flow_nr),
			FXT_NAME_THREAD, NULL);
}

/* It is one of the last ones.  False: a thread that the kernel did not report has it. */
static bool flow_take(struct fxt_maker *maker, uint32_t flow)
{
	for (size_t i = maker->flows.nr; i-- > 0;) {
		if (maker->flows.v[i] != flow)
			continue;
		maker->flows.v[i] = 0;
		return true;
	}
	return false;
}

void fxt_flow_made(struct fxt_writer *w, const struct ftr_task *task)
{
	const struct ftr_task *maker = task->maker;
	struct fxt_task *made = &w->tasks.v[task->id], *from;

	if (maker == NULL || made->flow_id != FXT_FLOW_THREAD)
		return;
	from = maker->id < w->tasks.nr ? &w->tasks.v[maker->id] : NULL;
	made->flow_id = 0;
	if (from == NULL || from->maker_flow == 0 || !is_inside_maker(from))
		return;
	if (flow_take(ftr_hashmap_find(&w->makers, (uint32_t)maker->pid), from->maker_flow))
		made->flow_id = from->maker_flow;
	from->maker_flow = 0;
}

/* The arrow that leads to a thread; 0 = none does. */
static uint32_t thread_flow(struct fxt_writer *w, const struct ftr_task *task)
{
	struct fxt_maker *maker = ftr_hashmap_find(&w->makers, (uint32_t)task->pid);
	const int32_t *own;
	uint32_t flow;
	size_t at;

	if (maker == NULL || maker->flows.nr == 0)
		return 0;
	own = maker->tids.nr == 0 ? NULL : bsearch(&task->tid, maker->tids.v, maker->tids.nr,
						   sizeof(*maker->tids.v), compare_tids);
	at = own == NULL ? maker->flows.nr : (size_t)(own - maker->tids.v);
	if (at >= maker->flows.nr || maker->flows.v[at] == 0) {
		at = maker->flows.nr - 1;
		while (at > 0 && maker->flows.v[at] == 0)
			at--;
	}
	flow = maker->flows.v[at];
	maker->flows.v[at] = 0;
	return flow;
}

int fxt_flow_end(struct fxt_writer *w, const struct ftr_task *task, uint64_t time_ns)
{
	uint32_t flow = w->tasks.v[task->id].flow_id;

	w->tasks.v[task->id].flow_id = 0;
	if (flow == FXT_FLOW_THREAD)
		flow = thread_flow(w, task);
	if (flow == 0)
		return 0;
	return put_flow(w, task, flow_shape(FXT_FLOW_END, time_ns, flow),
			w->tasks.v[task->id].flow_is_fork ? FXT_NAME_FORK : FXT_NAME_THREAD, NULL);
}

void fxt_makers_fini(struct fxt_writer *w)
{
	const struct ftr_hashmap_slot *slot;
	size_t pos = 0;

	while ((slot = ftr_hashmap_next(&w->makers, &pos)) != NULL) {
		struct fxt_maker *maker = slot->value;

		ftr_vec_fini(&maker->flows);
		ftr_vec_fini(&maker->tids);
		free(maker);
	}
	ftr_hashmap_fini(&w->makers);
}
