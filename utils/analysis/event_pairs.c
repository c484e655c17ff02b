/* SPDX-License-Identifier: MIT */
/* Events of the kernel that begin and end something, as a table. */
#include "utils/analysis/event_pairs.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/hashmap.h"
#include "utils/base/text.h"
#include "utils/trace/event.h"
#include "utils/trace/task.h"

#define KEY_BITS 56	/* of the value; the rest is the thing's */
#define CPU_SHIFT 32

/* By what two halves are matched. */
enum key {
	KEY_TASK,	/* whose they are */
	KEY_CPU,	/* where they are */
	KEY_FIELD,	/* a number in their texts, behind a label */
	KEY_CPU_FIELD,	/* both */
	KEY_SECTOR,	/* the device and sector of a request: "8,0 W 4096 () 1234 + 8 ..." */
};

struct half {
	const char *name;
	const char *event;
	enum ftr_event_half half;
	enum key key;
	const char *label;	/* of a KEY_FIELD */
	bool keeps_first;
};

#define BEGIN(name_, event_, key_, ...) \
	{ .name = name_, .event = event_, .half = FTR_EVENT_HALF_BEGIN, .key = key_, ##__VA_ARGS__ }
#define END(name_, event_, key_, ...) \
	{ .name = name_, .event = event_, .half = FTR_EVENT_HALF_END, .key = key_, ##__VA_ARGS__ }
#define CANCEL(name_, event_, key_, ...) \
	{ .name = name_, .event = event_, .half = FTR_EVENT_HALF_CANCEL, .key = key_, \
	  ##__VA_ARGS__ }

#define SWITCH "sched:sched_switch"
#define SWITCH_NEXT " next_pid="
#define SWITCH_PREV " prev_pid="

#define WAKE_UP "sched: wake-up to run"
#define REQUEST "block: request to completion"
#define QUEUED "block: queued to issued"
#define HANDLER "irq: handler"
#define RAISED "irq: raised to softirq"
#define SOFTIRQ "irq: softirq"
#define VECTOR "irq_vectors: *"
#define TIMER "timer: expiry"
#define HRTIMER "timer: high-resolution expiry"
#define WORK "workqueue: work"

/* Rows of one name belong together; * in an event's name is what both names share. */
static const struct half halves[] = {
	/* Who goes to sleep again has used its wake-up; so has who was awake. */
	BEGIN(WAKE_UP, "sched:sched_waking", KEY_FIELD, .label = " pid=", .keeps_first = true),
	BEGIN(WAKE_UP, "sched:sched_wakeup", KEY_FIELD, .label = " pid=", .keeps_first = true),
	BEGIN(WAKE_UP, "sched:sched_wakeup_new", KEY_FIELD, .label = " pid=", .keeps_first = true),
	END(WAKE_UP, SWITCH, KEY_FIELD, .label = SWITCH_NEXT),
	CANCEL(WAKE_UP, SWITCH, KEY_FIELD, .label = SWITCH_PREV),

	BEGIN("syscalls: *", "syscalls:sys_enter_*", KEY_TASK),
	END("syscalls: *", "syscalls:sys_exit_*", KEY_TASK),
	BEGIN("raw_syscalls", "raw_syscalls:sys_enter", KEY_TASK),
	END("raw_syscalls", "raw_syscalls:sys_exit", KEY_TASK),

	BEGIN(QUEUED, "block:block_rq_insert", KEY_SECTOR),
	END(QUEUED, "block:block_rq_issue", KEY_SECTOR),
	BEGIN(REQUEST, "block:block_rq_issue", KEY_SECTOR),
	END(REQUEST, "block:block_rq_complete", KEY_SECTOR),

	BEGIN(HANDLER, "irq:irq_handler_entry", KEY_CPU_FIELD, .label = "irq="),
	END(HANDLER, "irq:irq_handler_exit", KEY_CPU_FIELD, .label = "irq="),
	BEGIN(RAISED, "irq:softirq_raise", KEY_CPU_FIELD, .label = "vec=", .keeps_first = true),
	END(RAISED, "irq:softirq_entry", KEY_CPU_FIELD, .label = "vec="),
	BEGIN(SOFTIRQ, "irq:softirq_entry", KEY_CPU_FIELD, .label = "vec="),
	END(SOFTIRQ, "irq:softirq_exit", KEY_CPU_FIELD, .label = "vec="),
	BEGIN(VECTOR, "irq_vectors:*_entry", KEY_CPU),
	END(VECTOR, "irq_vectors:*_exit", KEY_CPU),

	BEGIN(TIMER, "timer:timer_expire_entry", KEY_CPU),
	END(TIMER, "timer:timer_expire_exit", KEY_CPU),
	BEGIN(HRTIMER, "timer:hrtimer_expire_entry", KEY_CPU),
	END(HRTIMER, "timer:hrtimer_expire_exit", KEY_CPU),
	BEGIN(WORK, "workqueue:workqueue_execute_start", KEY_TASK),
	END(WORK, "workqueue:workqueue_execute_end", KEY_TASK),
};

#define HALF_NR (sizeof(halves) / sizeof(halves[0]))

/* Does @name read as @pattern, which may have one *?  *rest: what stands for that. */
static bool name_matches(const char *name, const char *pattern, struct ftr_slice *rest)
{
	const char *star = strchr(pattern, '*');
	size_t head, tail, len = strlen(name);

	*rest = ftr_slice_make(name, 0);
	if (star == NULL)
		return strcmp(name, pattern) == 0;
	head = (size_t)(star - pattern);
	tail = strlen(star + 1);
	if (len < head + tail || strncmp(name, pattern, head) != 0 ||
	    strcmp(name + len - tail, star + 1) != 0)
		return false;
	*rest = ftr_slice_make(name + head, len - head - tail);
	return true;
}

static bool number_parse(struct ftr_slice text, uint64_t *value)
{
	size_t len = 0;

	while (len < text.len && text.s[len] >= '0' && text.s[len] <= '9')
		len++;
	return ftr_parse_u64(ftr_slice_make(text.s, len), 10, value) == 0;
}

/* The last one: a name before it may look like a label. */
static bool field_find(struct ftr_slice text, const char *label, uint64_t *value)
{
	size_t len = strlen(label);

	for (size_t at = text.len; at-- > 0;) {
		if (text.len - at > len && memcmp(text.s + at, label, len) == 0)
			return number_parse(ftr_slice_make(text.s + at + len,
							   text.len - at - len), value);
	}
	return false;
}

/* "MAJOR,MINOR ... SECTOR + COUNT": two requests at a time have two sectors. */
static bool sector_find(struct ftr_slice text, uint64_t *value)
{
	const char *plus = memmem(text.s, text.len, " + ", 3), *start = plus;
	uint64_t device = 0;

	if (plus == NULL)
		return false;
	while (start > text.s && start[-1] != ' ')
		start--;
	for (const char *p = text.s; p < start && *p != ' '; p++)
		device = ftr_hash_u64(device + (unsigned char)*p);
	if (!number_parse(ftr_slice_make(start, (size_t)(plus - start)), value))
		return false;
	*value ^= device;
	return true;
}

static struct ftr_slice text_of(const struct ftr_event *ev)
{
	return ev->payload == NULL ?
		       ftr_slice_make("", 0) :
		       ftr_slice_make((const char *)ev->payload->data, ev->payload->len);
}

static bool key_find(const struct ftr_event *ev, size_t half, uint64_t *value)
{
	switch (halves[half].key) {
	case KEY_TASK:
		*value = (uint32_t)ev->task->tid;
		return true;
	case KEY_CPU:
		*value = ev->point.cpu_nr;
		return ev->point.cpu_nr != 0;
	case KEY_SECTOR:
		return sector_find(text_of(ev), value);
	case KEY_CPU_FIELD:
		if (ev->point.cpu_nr == 0 ||
		    !field_find(text_of(ev), halves[half].label, value))
			return false;
		*value ^= (uint64_t)ev->point.cpu_nr << CPU_SHIFT;
		return true;
	default:
		return field_find(text_of(ev), halves[half].label, value);
	}
}

/* The first row of the name stands for all. */
static uint64_t thing_of(size_t half)
{
	size_t first = half;

	while (first > 0 && strcmp(halves[first - 1].name, halves[half].name) == 0)
		first--;
	return first;
}

unsigned ftr_event_pairs_of(const char *name, struct ftr_event_pair pairs[FTR_EVENT_HALVES_MAX])
{
	struct ftr_slice rest;
	unsigned nr = 0;

	for (int begins = 0; begins < 2; begins++) {
		for (unsigned i = 0; i < HALF_NR && nr < FTR_EVENT_HALVES_MAX; i++) {
			if ((halves[i].half == FTR_EVENT_HALF_BEGIN) == begins &&
			    name_matches(name, halves[i].event, &rest))
				pairs[nr++] = (struct ftr_event_pair){ halves[i].half, i,
								       halves[i].keeps_first };
		}
	}
	return nr;
}

void ftr_event_pair_title(const struct ftr_event_pair *pair, const char *name,
			 struct ftr_strbuf *text)
{
	const char *shown = halves[pair->row].name, *star = strchr(shown, '*');
	struct ftr_slice rest;

	if (star == NULL || !name_matches(name, halves[pair->row].event, &rest)) {
		ftr_strbuf_puts(text, shown);
		return;
	}
	ftr_strbuf_put(text, shown, (size_t)(star - shown));
	ftr_strbuf_put(text, rest.s, rest.len);
}

bool ftr_event_pair_key(const struct ftr_event_pair *pair, const struct ftr_event *ev,
			uint64_t *key)
{
	uint64_t value;

	if (!key_find(ev, pair->row, &value))
		return false;
	*key = thing_of(pair->row) << KEY_BITS ^ (value & (FTR_BIT64(KEY_BITS) - 1));
	return true;
}

/* The first field of a text has no blank before it. */
static bool prev_find(struct ftr_slice text, uint64_t *value)
{
	struct ftr_slice label = ftr_slice_make(&SWITCH_PREV[1], strlen(SWITCH_PREV) - 1);

	if (field_find(text, SWITCH_PREV, value))
		return true;
	if (text.len < label.len || memcmp(text.s, label.s, label.len) != 0)
		return false;
	return number_parse(ftr_slice_make(text.s + label.len, text.len - label.len), value);
}

bool ftr_task_switch_read(struct ftr_task_switch *found, const struct ftr_event *ev)
{
	uint64_t prev, next;

	if (!ftr_event_is_tracepoint(ev) || strcmp(ev->point.name, SWITCH) != 0 ||
	    !field_find(text_of(ev), SWITCH_NEXT, &next) || !prev_find(text_of(ev), &prev) ||
	    prev > INT32_MAX || next > INT32_MAX)
		return false;
	*found = (struct ftr_task_switch){ (int32_t)prev, (int32_t)next };
	return true;
}

bool ftr_event_pairs_need_text(const char *name)
{
	struct ftr_event_pair pairs[FTR_EVENT_HALVES_MAX];
	unsigned nr = ftr_event_pairs_of(name, pairs);

	for (unsigned i = 0; i < nr; i++) {
		enum key key = halves[pairs[i].row].key;

		if (key != KEY_TASK && key != KEY_CPU)
			return true;
	}
	return false;
}
