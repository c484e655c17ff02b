/* SPDX-License-Identifier: MIT */
/*
 * Names of tasks and who made whom, from saved_cmdlines and from what the scheduler's events say,
 * gathered by the walk over all pages.
 */
#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/ftrace/page_layout.h"
#include "utils/format/tracedat/read.h"

#define UNKNOWN_NAME "<...>"			/* as the kernel has it */
#define FLAG_THREAD  0x10000u			/* CLONE_THREAD */
#define DEPTH_MAX    64				/* of threads that threads made, one by one */

/* Fields of events: a task, its name, and perhaps that the task in common_pid made it. */
static const struct row {
	const char *event, *tid, *name;
	const char *flags;			/* (nullable) of clone */
	const char *parent;			/* (nullable) */
} rows[] = {
	{ "sched:sched_switch", "prev_pid", "prev_comm", NULL, NULL },
	{ "sched:sched_switch", "next_pid", "next_comm", NULL, NULL },
	{ "sched:sched_wakeup", "pid", "comm", NULL, NULL },
	{ "sched:sched_waking", "pid", "comm", NULL, NULL },
	{ "sched:sched_wakeup_new", "pid", "comm", NULL, NULL },
	{ "sched:sched_process_fork", "child_pid", "child_comm", NULL, "parent_pid" },
	{ "task:task_newtask", "pid", "comm", "clone_flags", "common_pid" },
};
#define ROW_NR (sizeof(rows) / sizeof(rows[0]))

/* A row whose event the file has. */
struct field_set {
	uint32_t id;				/* of the event */
	struct ftr_ftrace_field tid, flags, parent;	/* the last two: perhaps */
	const struct tep_format_field *name;
	struct field_set *next;			/* (nullable) of the same event */
};

struct birth {
	int32_t tid, parent_tid;
	bool is_thread, has_flags;
};

struct tdat_kin {
	struct field_set *sets[FTR_FTRACE_IDS];	/* (nullable) by the event's id */
	struct ftr_hashmap names;		/* tid -> char * */
	struct ftr_hashmap births;		/* tid -> struct birth: the last one */
	struct field_set store[ROW_NR];
	bool has_sets;
};

struct tdat_kin *tdat_kin_new(void)
{
	struct tdat_kin *kin = calloc(1, sizeof(*kin));

	if (kin != NULL) {
		ftr_hashmap_init(&kin->names);
		ftr_hashmap_init(&kin->births);
	}
	return kin;
}

void tdat_kin_free(struct tdat_kin *kin)
{
	if (kin == NULL)
		return;
	ftr_hashmap_fini(&kin->names);
	ftr_hashmap_fini(&kin->births);
	free(kin);
}

/* ---- names ---- */

/* The first name that is known of a task stays. */
static int name_note(struct tdat_reader *reader, int32_t tid, struct ftr_slice name)
{
	struct tdat_kin *kin = reader->kin;
	char *copy;

	if (name.len == 0 || ftr_hashmap_find(&kin->names, (uint32_t)tid) != NULL)
		return 0;
	copy = tdat_strdup(reader, name);
	return copy == NULL ? -ENOMEM : ftr_hashmap_set(&kin->names, (uint32_t)tid, copy);
}

/* "1234 name with blanks": a line each. */
int tdat_cmdlines_load(struct tdat_reader *reader, struct ftr_slice text)
{
	struct ftr_slice line, number;
	uint64_t tid;

	while (ftr_slice_split(&text, '\n', &line)) {
		line = ftr_slice_trim(line);
		if (!ftr_slice_split(&line, ' ', &number) || line.s == NULL ||
		    ftr_parse_u64(number, 10, &tid) < 0 || tid > INT32_MAX)
			continue;
		line = ftr_slice_trim(line);
		if (!ftr_slice_eq(line, UNKNOWN_NAME) && name_note(reader, (int32_t)tid, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

void tdat_kin_name(struct tdat_reader *reader, struct ftr_task *task, struct ftr_slice name)
{
	if (name_note(reader, task->tid, name) < 0)
		reader->is_failed = true;
}

/* ---- events ---- */

static void set_add(struct tdat_reader *reader, const struct row *row, struct field_set *set,
		    const struct ftr_ftrace_event *event)
{
	struct tep_event *tep = event->tep;
	struct tdat_kin *kin = reader->kin;

	*set = (struct field_set){
		.id = event->id,
		.tid = ftr_ftrace_field_of(tep_find_field(tep, row->tid)),
		.name = tep_find_field(tep, row->name),
		.next = kin->sets[event->id],
	};
	if (row->flags != NULL)
		set->flags = ftr_ftrace_field_of(tep_find_field(tep, row->flags));
	if (row->parent != NULL)
		set->parent = ftr_ftrace_field_of(tep_find_any_field(tep, row->parent));
	if (set->tid.bytes > 0 && set->name != NULL && set->name->size > 0)
		kin->sets[event->id] = set;
}

static void sets_find(struct tdat_reader *reader)
{
	const struct ftr_ftrace *ftrace = &reader->ftrace;

	reader->kin->has_sets = true;
	for (size_t i = 0; i < ROW_NR; i++) {
		for (size_t j = 0; j < ftrace->events.nr; j++) {
			const struct ftr_ftrace_event *event = ftrace->events.v[j];

			if (event->name != NULL && strcmp(event->name, rows[i].event) == 0 &&
			    ftrace->by_id[event->id] == j + 1) {
				set_add(reader, &rows[i], &reader->kin->store[i], event);
				break;
			}
		}
	}
}

/* The text of a field, in the record or where the record says. */
static struct ftr_slice field_text(const struct ftr_ftrace_page *page,
				   const struct tep_format_field *field)
{
	uint64_t offset = (uint64_t)field->offset, bytes = (uint64_t)field->size;
	const char *s;

	if (field->flags & TEP_FIELD_IS_DYNAMIC) {
		uint64_t at = ftr_ftrace_number(page, ftr_ftrace_field_of(field));

		if (field->flags & TEP_FIELD_IS_RELATIVE)
			offset += bytes + ftr_kpage_dynamic_offset(at);
		else
			offset = ftr_kpage_dynamic_offset(at);
		bytes = ftr_kpage_dynamic_bytes(at);
	}
	if (offset + bytes > page->bytes)
		return ftr_slice_make("", 0);
	s = (const char *)page->data + offset;
	return ftr_slice_make(s, strnlen(s, (size_t)bytes));
}

static int birth_note(struct tdat_reader *reader, const struct ftr_ftrace_page *page,
		      const struct field_set *set, int32_t tid)
{
	struct ftr_hashmap *births = &reader->kin->births;
	struct birth *birth = ftr_hashmap_find(births, (uint32_t)tid);

	if (birth == NULL) {
		birth = ftr_arena_alloc(&reader->trace->arena, sizeof(*birth));
		if (birth == NULL || ftr_hashmap_set(births, (uint32_t)tid, birth) < 0)
			return -ENOMEM;
		*birth = (struct birth){ .tid = tid };
	}
	birth->parent_tid = (int32_t)ftr_ftrace_number(page, set->parent);
	if (set->flags.bytes > 0) {
		birth->is_thread = (ftr_ftrace_number(page, set->flags) & FLAG_THREAD) != 0;
		birth->has_flags = true;
	}
	return 0;
}

int tdat_kin_event(struct tdat_reader *reader, const struct ftr_ftrace_page *page,
		   const struct ftr_ftrace_event *event)
{
	const struct field_set *set;
	int ret = 0;

	if (!reader->kin->has_sets)
		sets_find(reader);
	set = reader->kin->sets[event->id];
	for (; ret == 0 && set != NULL; set = set->next) {
		int32_t tid = (int32_t)ftr_ftrace_number(page, set->tid);

		ret = tid == 0 ? 0 : name_note(reader, tid, field_text(page, set->name));
		if (ret == 0 && set->parent.bytes > 0)
			ret = birth_note(reader, page, set, tid);
	}
	return ret;
}

/* ---- all tasks are known ---- */

static int32_t process_of(const struct tdat_kin *kin, int32_t tid)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const struct birth *birth = ftr_hashmap_find(&kin->births, (uint32_t)tid);

		if (birth == NULL || !birth->is_thread)
			break;
		tid = birth->parent_tid;
	}
	return tid;
}

/* Numbers are used again: a task may seem to be its own ancestor. */
static bool is_ancestor(const struct ftr_task *task, const struct ftr_task *of)
{
	for (int depth = 0; of != NULL; of = of->parent) {
		if (of == task || depth++ == DEPTH_MAX)
			return true;
	}
	return false;
}

static void task_apply(const struct tdat_reader *reader, struct ftr_task *task)
{
	const struct tdat_kin *kin = reader->kin;
	const struct birth *birth = ftr_hashmap_find(&kin->births, (uint32_t)task->tid);
	const char *name = ftr_hashmap_find(&kin->names, (uint32_t)task->tid);

	if (task->name[0] == '\0')
		task->name = name != NULL ? name : UNKNOWN_NAME;
	if (birth == NULL)
		return;
	task->pid = process_of(kin, task->tid);
	task->maker = ftr_trace_task_find(reader->trace, birth->parent_tid);
	if (birth->has_flags && !birth->is_thread && !is_ancestor(task, task->maker)) {
		task->parent = task->maker;
		task->is_forked = task->parent != NULL;
	}
}

void tdat_kin_apply(struct tdat_reader *reader)
{
	for (size_t i = 0; i < reader->trace->tasks.nr; i++)
		task_apply(reader, reader->trace->tasks.v[i]);
}
