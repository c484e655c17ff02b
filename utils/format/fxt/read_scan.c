/* SPDX-License-Identifier: MIT */
/*
 * FXT reader, the walks over all records before the first event is read.  The first collects
 * tables, names, tasks and blobs, and sees whether events are in order of time.  If not, another
 * one sorts them (doc/adr/0020-events-out-of-order.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/fxt/read.h"
#include "utils/format/uftrace/read.h"
#include "utils/format/uftrace/stacks.h"
#include "utils/trace/source.h"

#define TIES_NR 512

struct scan {
	struct fxt_reader *r;
	uint64_t last_ns;
	uint64_t first_ns;
	bool has_events;
	struct scan_tie {
		uint64_t begin_ns, end_ns, thread;
	} ties[TIES_NR];		/* the complete records that came last, by thread */
	/* Thread koids without a process: they wait until those with one are known. */
	FTR_VEC(uint64_t) threads;
	struct ftr_hashmap thread_seen;
	FTR_VEC(struct scan_made {
		struct ftr_task *task;
		uint64_t maker;		/* koid */
	})
	made; /* which wait, too */
};

static int scan_no_memory(struct ftr_err *err)
{
	return ftr_err_set(err, ENOMEM, "fxt: out of memory");
}

/* Providers, and tables. */
static int scan_table(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	int ret = fxt_table_take(r, at);

	if (fxt_record_type(at->header) == FXT_METADATA &&
	    fxt_metadata_type(at->header) == FXT_PROVIDER_EVENT)
		r->filled_nr += fxt_provider_event(at->header) == 0;
	r->damaged_nr += ret == -EBADMSG;
	return ret == -EBADMSG ? 0 : ret;
}

static int scan_init(struct scan *scan, const struct fxt_record_at *at)
{
	uint64_t ticks = at->bytes < 16 ? 0 : fxt_word(scan->r, at->offset + 8);

	if (ticks == 0) {
		scan->r->damaged_nr++;
		return 0;
	}
	/* One rate is valid for the whole provider: the order seen so far may be wrong. */
	scan->r->is_unordered |= scan->has_events && ticks != scan->r->provider->ticks_per_s;
	scan->r->provider->ticks_per_s = ticks;
	return 0;
}

/* The arguments of a record. */
struct arg_list {
	const struct fxt_record_at *at;
	uint64_t pos;
	unsigned nr;
};

/* The koid in the argument of this name; false = there is none. */
static bool koid_arg(struct scan *scan, const struct arg_list *args, const char *key,
		     uint64_t *koid)
{
	struct fxt_reader *r = scan->r;
	const struct fxt_record_at *at = args->at;
	uint64_t pos = args->pos;
	uint64_t end = at->offset + at->bytes;

	for (unsigned nr = args->nr; nr > 0 && end - pos >= 16; nr--) {
		uint64_t header = fxt_word(r, pos);
		uint64_t bytes = fxt_arg_words(header) * 8;
		uint64_t value = pos + 8;
		const struct fxt_text *name;

		if (bytes < 8 || bytes > end - pos)
			break;
		name = fxt_string_at(r, r->provider, fxt_arg_name_ref(header), at->offset, &value,
				     pos + bytes);
		if (fxt_arg_type(header) == FXT_ARG_KOID && name != NULL &&
		    strcmp(name->str->s, key) == 0 && pos + bytes - value >= 8) {
			*koid = fxt_word(r, value);
			return true;
		}
		pos += bytes;
	}
	return false;
}

/* Names of threads are the tasks'; those of processes wait until all tasks are known. */
static int scan_object(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	unsigned type = fxt_kernel_type(at->header);
	uint64_t koid, process, maker, pos = at->offset + 16;
	struct arg_list args = { at, pos, fxt_kernel_arg_nr(at->header) };
	struct fxt_text *name;
	struct ftr_task *task;

	if ((type != FXT_OBJECT_PROCESS && type != FXT_OBJECT_THREAD) || at->bytes < 16) {
		r->skipped_nr++;
		return 0;
	}
	koid = fxt_word(r, at->offset + 8);
	name = fxt_string_at(r, r->provider, fxt_kernel_name_ref(at->header), at->offset, &pos,
			     at->offset + at->bytes);
	if (name == NULL) {
		r->damaged_nr++;
		return 0;
	}
	if (type == FXT_OBJECT_PROCESS)
		return ftr_hashmap_set(&r->process_names, (uint32_t)fxt_pid_of(r, koid), name);
	args.pos = pos;
	task = koid_arg(scan, &args, "process", &process) ? fxt_task_of(r, process, koid) :
							    fxt_task_by_thread(r, koid);
	if (task == NULL)
		return -ENOMEM;
	task->name = name->str->s;
	if (r->provider->is_ours && koid_arg(scan, &args, FXT_KEY_MAKER, &maker))
		return ftr_vec_push(&scan->made, ((struct scan_made){ task, maker }));
	return 0;
}

/* Instances that we name are no symbols.  Its thread ref may be inline, with the process alone. */
static int scan_user_object(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	unsigned ref = fxt_user_thread_ref(at->header);
	uint64_t pos = at->offset + 16, end = at->offset + at->bytes;
	const struct ftr_task *task = NULL;
	const struct fxt_text *name;
	uint64_t process = 0;

	if (r->provider->is_ours && fxt_user_arg_nr(at->header) > 0)
		return 0;
	if (at->bytes < (ref == 0 ? 24 : 16)) {
		r->damaged_nr++;
		return 0;
	}
	if (ref != 0) {
		task = fxt_slot_find(&r->provider->threads[ref], at->offset);
	} else {
		process = fxt_word(r, pos);
		pos += 8;
	}
	name = fxt_string_at(r, r->provider, fxt_user_name_ref(at->header), at->offset, &pos, end);
	if (name == NULL || (ref != 0 && task == NULL)) {
		r->damaged_nr++;
		return 0;
	}
	return fxt_object_add(r, task != NULL ? (uint32_t)task->pid : process,
			      fxt_word(r, at->offset + 8), name);
}

static int scan_blob(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	uint64_t pos = at->offset + 8, end = at->offset + at->bytes;
	const struct fxt_text *name = fxt_string_at(r, r->provider, fxt_blob_name_ref(at->header),
						    at->offset, &pos, end);
	size_t len = fxt_blob_len(at->header);
	const struct {
		const char *name;
		struct ftr_strbuf *text;
	} rows[] = {
		{ FXT_BLOB_INFO, &r->info }, { FXT_BLOB_TASKS, &r->task_lines },
		{ FXT_BLOB_SYMBOLS, &r->symbol_lines }, { FXT_BLOB_ENUMS, &r->enum_lines },
		{ FXT_BLOB_SHAPES, &r->shape_lines }, { FXT_BLOB_SYSCALLS, &r->syscall_lines },
		{ FXT_BLOB_STACKS, &r->stack_lines },
	};

	if (name == NULL || len > end - pos) {
		r->damaged_nr++;
		return 0;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name->str->s, rows[i].name) == 0) {
			ftr_strbuf_put(rows[i].text, r->in.data + pos, len);
			return 0;
		}
	}
	r->skipped_nr++;
	return 0;
}

/* Counters, arrows and the like may name threads that nothing else does. */
static int thread_later(struct scan *scan, uint64_t koid)
{
	if (koid == 0 || ftr_hashmap_find(&scan->thread_seen, koid) != NULL)
		return 0;
	if (ftr_vec_push(&scan->threads, koid) < 0)
		return -ENOMEM;
	return ftr_hashmap_set(&scan->thread_seen, koid, scan);
}

static int thread_inline(struct scan *scan, const struct fxt_record_at *at, uint64_t pos)
{
	uint64_t end = at->offset + at->bytes;

	if (end - at->offset < 32 || pos > end - 16)
		return 0;
	return fxt_task_of(scan->r, fxt_word(scan->r, pos), fxt_word(scan->r, pos + 8)) == NULL ?
	       -ENOMEM : 0;
}

static uint64_t scan_ns(const struct scan *scan, uint64_t pos)
{
	const struct fxt_reader *r = scan->r;
	uint64_t ticks = fxt_word(r, pos);

	if (r->provider->ticks_per_s == FXT_TICKS_PER_S)
		return ticks;
	return (uint64_t)((unsigned __int128)ticks * FXT_TICKS_PER_S / r->provider->ticks_per_s);
}

/* A call written when it ends stands behind its callee, also where both began at one time. */
static inline bool is_callee_first(struct scan *scan, uint64_t offset, uint64_t begin_ns,
				   uint64_t end_ns)
{
	uint64_t header = fxt_word(scan->r, offset), thread;
	struct scan_tie *tie;
	bool is_first;

	if (fxt_record_type(header) != FXT_EVENT ||
	    fxt_event_type(header) != FXT_DURATION_COMPLETE || fxt_record_words(header) < 4)
		return false;
	thread = fxt_event_thread_ref(header);
	if (thread == 0)	/* inline: its koid is behind the process's */
		thread = TIES_NR / 2 + fxt_word(scan->r, offset + 24);
	tie = &scan->ties[thread % TIES_NR];
	is_first = tie->begin_ns == begin_ns && tie->thread == thread && tie->end_ns < end_ns;
	*tie = (struct scan_tie){ begin_ns, end_ns, thread };
	return is_first;
}

static int scan_time(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	uint64_t ticks = scan_ns(scan, at->offset + 8);

	r->is_unordered |= ticks < scan->last_ns ||
			   is_callee_first(scan, at->offset, ticks,
					   scan_ns(scan, at->offset + at->bytes - 8));
	scan->last_ns = ticks;
	if (!scan->has_events || ticks < scan->first_ns)
		scan->first_ns = ticks;
	scan->has_events = true;
	return 0;
}

/* Damage is counted when the event is decoded. */
static int scan_event(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_decoded fork;
	uint64_t child;

	if (at->bytes < 16)
		return 0;
	scan_time(scan, at);
	if (__builtin_expect(fxt_event_thread_ref(at->header) == 0, 0))
		return thread_inline(scan, at, at->offset + 16);
	if (fxt_event_type(at->header) != FXT_FLOW_BEGIN || !fxt_decode(scan->r, at, &fork) ||
	    fork.category != scan->r->own || fork.name != scan->r->name_fork)
		return 0;
	if (!koid_arg(scan, &(struct arg_list){ at, fork.args, fork.arg_nr }, FXT_KEY_CHILD,
		      &child))
		return 0;
	return thread_later(scan, child);
}

static int scan_log(struct scan *scan, const struct fxt_record_at *at)
{
	if (at->bytes < 16)
		return 0;
	scan_time(scan, at);
	return fxt_log_thread_ref(at->header) == 0 ? thread_inline(scan, at, at->offset + 16) : 0;
}

static int scan_scheduling(struct scan *scan, const struct fxt_record_at *at)
{
	uint64_t pos = at->offset + 16;
	unsigned kind = fxt_sched_type(at->header);
	int ret = 0;

	if (at->bytes < 16)
		return 0;
	scan_time(scan, at);
	for (unsigned i = 0; ret == 0 && kind == FXT_SCHED_LEGACY && i < 2; i++) {
		if ((i == 0 ? fxt_legacy_out_ref(at->header) : fxt_legacy_in_ref(at->header)) != 0)
			continue;
		ret = thread_inline(scan, at, pos);
		pos += 16;
	}
	if (kind == FXT_SCHED_WAKEUP && at->bytes >= 24)
		return thread_later(scan, fxt_word(scan->r, pos));
	if (kind == FXT_SCHED_SWITCH && at->bytes >= 32)
		ret = thread_later(scan, fxt_word(scan->r, pos));
	if (ret == 0 && kind == FXT_SCHED_SWITCH && at->bytes >= 32)
		ret = thread_later(scan, fxt_word(scan->r, pos + 8));
	return ret;
}

static int scan_skip(struct scan *scan, const struct fxt_record_at *at)
{
	scan->r->skipped_nr++;
	return 0;
}

static int (*const scans[16])(struct scan *scan, const struct fxt_record_at *at) = {
	[FXT_METADATA]	    = scan_table,
	[FXT_INIT]	    = scan_init,
	[FXT_STRING]	    = scan_table,
	[FXT_THREAD]	    = scan_table,
	[FXT_EVENT]	    = scan_event,
	[FXT_BLOB]	    = scan_blob,
	[FXT_USER_OBJECT]   = scan_user_object,
	[FXT_KERNEL_OBJECT] = scan_object,
	[FXT_SCHEDULING]    = scan_scheduling,
	[FXT_LOG]	    = scan_log,
};

/*
 * Events of which only the time matters here: their thread is of the table, and they make no
 * thread.
 */
static inline bool is_plain(uint64_t header)
{
	return fxt_record_type(header) == FXT_EVENT && fxt_record_words(header) >= 2 &&
	       fxt_event_thread_ref(header) != 0 && fxt_event_type(header) != FXT_FLOW_BEGIN;
}

/* Step over plain events, which long traces consist of, as fast as they can be read. */
static void scan_plain_events(struct scan *scan, uint64_t *offset)
{
	struct fxt_reader *r = scan->r;
	uint64_t end = r->in.size - *offset < FXT_KEPT_BYTES ? r->in.size :
							       *offset + FXT_KEPT_BYTES;
	uint64_t pos = *offset, last_ns = scan->last_ns, first_ns = UINT64_MAX;
	bool is_unordered = false;

	while (end - pos >= 16 && is_plain(fxt_word(r, pos))) {
		uint64_t bytes = fxt_record_words(fxt_word(r, pos)) * 8;
		uint64_t time_ns = fxt_word(r, pos + 8);

		if (__builtin_expect(bytes > end - pos, 0))
			break;
		is_unordered |= time_ns < last_ns ||
				is_callee_first(scan, pos, time_ns,
						fxt_word(r, pos + bytes - 8));
		first_ns = time_ns < first_ns ? time_ns : first_ns;
		last_ns = time_ns;
		fxt_prefetch(r, pos);
		pos += bytes;
	}
	if (pos == *offset)
		return;
	if (!scan->has_events || first_ns < scan->first_ns)
		scan->first_ns = first_ns;
	scan->has_events = true;
	scan->last_ns = last_ns;
	r->is_unordered |= is_unordered;
	*offset = pos;
}

/* A task without a name of its own has that of its process; names go where the tasks are. */
static void name_tasks(struct fxt_reader *r)
{
	for (size_t i = 0; i < r->trace->tasks.nr; i++) {
		struct ftr_task *task = r->trace->tasks.v[i];
		const struct fxt_text *name = ftr_hashmap_find(&r->process_names,
							       (uint32_t)task->pid);

		if (task->name[0] == '\0' && name != NULL)
			task->name = name->str->s;
	}
}

static int load_info(struct fxt_reader *r, struct ftr_err *err)
{
	struct ftr_istream in;
	const char *lines;
	int ret;

	if (r->info.failed || r->enum_lines.failed || r->shape_lines.failed ||
	    r->stack_lines.failed || r->symbol_lines.failed || r->task_lines.failed ||
	    r->syscall_lines.failed)
		return scan_no_memory(err);
	if (r->info.len == 0)
		return 0;
	/* Of a file that is cut, which is told, the last line may be. */
	lines = memrchr(r->info.s, '\n', r->info.len);
	ftr_istream_from_memory(&in, FXT_BLOB_INFO, r->info.s,
				lines == NULL ? r->info.len : (size_t)(lines + 1 - r->info.s));
	ret = uft_info_parse(r->trace, &in, err);
	ftr_istream_close(&in);
	if (ret < 0 && ret != -ENOMEM) {
		ftr_diag_warn(r->trace->diag, "%s: %s", r->in.name, err->text);
		ret = 0;
	}
	return ret;
}

static int scan_records(struct scan *scan, uint64_t *offset)
{
	struct fxt_reader *r = scan->r;
	struct fxt_record_at at;
	int ret = fxt_walk_begin(r, false);

	while (ret == 0 && fxt_record_next(r, offset, &at, true)) {
		unsigned type = fxt_record_type(at.header);

		ret = scans[type] == NULL ? scan_skip(scan, &at) : scans[type](scan, &at);
		if (r->provider->ticks_per_s == FXT_TICKS_PER_S)
			scan_plain_events(scan, offset);
		fxt_forget(r, *offset);
	}
	for (size_t i = 0; ret == 0 && i < scan->threads.nr; i++) {
		if (fxt_task_by_thread(r, scan->threads.v[i]) == NULL)
			ret = -ENOMEM;
	}
	for (size_t i = 0; i < scan->made.nr; i++) {
		struct ftr_task *task = scan->made.v[i].task;
		struct ftr_task *maker = fxt_task_find(r, scan->made.v[i].maker);

		task->maker = maker != task ? maker : NULL;
	}
	ftr_vec_fini(&scan->made);
	ftr_vec_fini(&scan->threads);
	ftr_hashmap_fini(&scan->thread_seen);
	return ret;
}

static int load_stacks(struct fxt_reader *r)
{
	struct ftr_istream in;
	int ret;

	if (r->stack_lines.len == 0)
		return 0;
	ftr_istream_from_memory(&in, FXT_BLOB_STACKS, r->stack_lines.s, r->stack_lines.len);
	ret = ftr_uftrace_stacks_load(r->trace, &in, &r->trace->call_stacks);
	ftr_istream_close(&in);
	return ret;
}

int fxt_scan(struct fxt_reader *r, struct ftr_err *err)
{
	struct scan scan = { .r = r };
	uint64_t offset = 0;
	int ret = scan_records(&scan, &offset);

	if (ret < 0 || r->is_failed)
		return scan_no_memory(err);
	if (offset < r->in.size)
		ftr_diag_warn(r->trace->diag,
			      "%s+0x%llx: truncated in the last record; %llu bytes skipped: "
			      FTR_CUT_WHY, r->in.name, (unsigned long long)offset,
			      (unsigned long long)(r->in.size - offset));
	name_tasks(r);
	r->trace->first_ns = scan.first_ns;
	ret = load_info(r, err);
	if (ret == 0 &&
	    (fxt_types_load(r) < 0 || fxt_tasks_load(r) < 0 || fxt_symbols_load(r) < 0 ||
	     fxt_objects_load(r) < 0 || fxt_syscalls_load(r) < 0 || load_stacks(r) < 0))
		ret = scan_no_memory(err);
	return ret;
}

/* ---- the walk that sorts ---- */

/*
 * Events that can be read go to the sorter, by their time; equal times keep the order of the file.
 */
static int order_take(struct fxt_reader *r, const struct fxt_record_at *at, struct ftr_err *err)
{
	unsigned type = fxt_record_type(at->header);
	struct fxt_decoded record;

	if (type != FXT_EVENT && type != FXT_SCHEDULING && type != FXT_LOG)
		return fxt_table_take(r, at) == -ENOMEM ?
			       ftr_err_set(err, ENOMEM, "out of memory") :
			       0;
	if (fxt_decode(r, at, &record))
		return ftr_sorter_put(r->order,
				      (struct ftr_sort_pair){ record.time_ns, at->offset }, err);
	r->damaged_nr++;
	return 0;
}

int fxt_order_build(struct fxt_reader *r, struct ftr_err *err)
{
	struct fxt_record_at at;
	uint64_t offset = 0;
	int ret = 0;

	r->order = ftr_sorter_new(&r->sort_sizes);
	if (r->order == NULL || fxt_walk_begin(r, true) < 0)
		r->is_failed = true;
	while (ret == 0 && !r->is_failed && fxt_record_next(r, &offset, &at, false)) {
		ret = order_take(r, &at, err);
		fxt_forget(r, offset);
	}
	if (ret == 0 && !r->is_failed)
		ret = ftr_sorter_finish(r->order, err);
	if (r->is_failed)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	if (ret < 0)
		ftr_err_prefix(err, "%s: sorting events that are out of order", r->in.name);
	return ret;
}

/* When the complete call that a pair stands for ends; 0 = it is none. */
static uint64_t complete_end(struct fxt_reader *r, uint64_t offset)
{
	struct fxt_record_at at;
	struct fxt_decoded record;

	if (!fxt_record_next(r, &offset, &at, false) || fxt_record_type(at.header) != FXT_EVENT ||
	    fxt_event_type(at.header) != FXT_DURATION_COMPLETE || !fxt_decode(r, &at, &record))
		return 0;
	return record.extra;
}

/*
 * Whoever writes calls when they end writes inner ones first.  Pairs that are no complete calls
 * stay where they are.
 */
void fxt_order_ties(struct fxt_reader *r, struct ftr_sort_pair *order, size_t nr)
{
	uint64_t ends[FTR_SOURCE_BATCH];
	size_t known_nr = 0;

	for (size_t i = 1; i < nr; i++) {
		struct ftr_sort_pair pair = order[i];
		uint64_t end;
		size_t at = i;

		if (pair.key != order[i - 1].key)
			continue;
		if (known_nr < i)
			ends[i - 1] = complete_end(r, order[i - 1].value);
		end = complete_end(r, pair.value);
		for (; at > 0 && order[at - 1].key == pair.key && ends[at - 1] != 0 &&
		       ends[at - 1] < end;
		     at--) {
			order[at] = order[at - 1];
			ends[at] = ends[at - 1];
		}
		order[at] = pair;
		ends[at] = end;
		known_nr = i + 1;
	}
}
