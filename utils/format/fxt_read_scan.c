/* SPDX-License-Identifier: MIT */
/* FXT reader, first walk: tables, names, tasks, info, and whether events are in order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/fxt_read.h"
#include "utils/format/uftrace_read.h"


struct scan {
	struct fxt_reader *r;
	struct fxt_provider *provider;
	uint64_t last_ns;
	uint64_t first_ns;
	bool has_events;
};

static int scan_no_memory(struct ftr_err *err)
{
	return ftr_err_set(err, ENOMEM, "fxt: out of memory");
}

static int section_begin(struct scan *scan, uint64_t offset, struct fxt_provider *provider)
{
	if (provider == NULL)
		return -ENOMEM;
	scan->provider = provider;
	return ftr_vec_push(&scan->r->sections, ((struct fxt_section){ offset, provider }));
}

static int scan_metadata(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	uint32_t id = (uint32_t)fxt_bits(at->header, 20, 32);
	struct fxt_provider *provider;

	switch (fxt_bits(at->header, 16, 4)) {
	case FXT_PROVIDER_INFO:		/* begins with empty tables */
		return section_begin(scan, at->offset, fxt_provider_add(r, id));
	case FXT_PROVIDER_SECTION:
		provider = fxt_provider_find(r, id);
		return section_begin(scan, at->offset,
				     provider != NULL ? provider : fxt_provider_add(r, id));
	case FXT_PROVIDER_EVENT:
		r->filled_nr += fxt_bits(at->header, 52, 4) == 0;
		return 0;
	default:
		return 0;
	}
}

static int scan_init(struct scan *scan, const struct fxt_record_at *at)
{
	uint64_t ticks = at->bytes < 16 ? 0 : fxt_word(scan->r, at->offset + 8);

	if (ticks == 0)
		scan->r->damaged_nr++;
	else
		scan->provider->ticks_per_s = ticks;
	return 0;
}

static int scan_string(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	struct fxt_provider *provider = scan->provider;
	size_t index = fxt_bits(at->header, 16, 15);
	size_t len = fxt_bits(at->header, 32, 15);
	struct fxt_text *text;

	if (index == 0 || len > at->bytes - 8) {
		r->damaged_nr++;
		return 0;
	}
	while (provider->strings.nr <= index) {
		if (ftr_vec_push(&provider->strings, ((struct fxt_slot){ .hint = 0 })) < 0)
			return -ENOMEM;
	}
	text = fxt_text_get(r, (const char *)r->in.data + at->offset + 8, len);
	if (text == NULL)
		return -ENOMEM;
	return fxt_slot_assign(&provider->strings.v[index], at->offset, text);
}

static int scan_thread(struct scan *scan, const struct fxt_record_at *at)
{
	size_t index = fxt_bits(at->header, 16, 8);
	struct ftr_task *task;

	if (index == 0 || at->bytes < 24) {
		scan->r->damaged_nr++;
		return 0;
	}
	task = fxt_task_of(scan->r, fxt_word(scan->r, at->offset + 8),
			   fxt_word(scan->r, at->offset + 16));
	if (task == NULL)
		return -ENOMEM;
	return fxt_slot_assign(&scan->provider->threads[index], at->offset, task);
}

/* The koid in argument "process" of a thread's object; 0 = there is none. */
static uint64_t object_process(struct fxt_reader *r, struct fxt_provider *provider,
			       const struct fxt_record_at *at, uint64_t pos, unsigned nr)
{
	uint64_t end = at->offset + at->bytes;

	for (; nr > 0 && end - pos >= 16; nr--) {
		uint64_t header = fxt_word(r, pos);
		uint64_t bytes = fxt_bits(header, 4, 12) * 8;
		uint64_t value = pos + 8;
		const struct fxt_text *name;

		if (bytes < 8 || bytes > end - pos)
			break;
		name = fxt_string_at(r, provider, fxt_bits(header, 16, 16), at->offset, &value,
				     pos + bytes);
		if (fxt_bits(header, 0, 4) == FXT_ARG_KOID && name != NULL &&
		    strcmp(name->str->s, "process") == 0 && pos + bytes - value >= 8)
			return fxt_word(r, value);
		pos += bytes;
	}
	return 0;
}

/* Names of threads are the tasks'; those of processes wait until all tasks are known. */
static int scan_object(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	unsigned type = fxt_bits(at->header, 16, 8);
	uint64_t koid, process, pos = at->offset + 16;
	struct fxt_text *name;
	struct ftr_task *task;

	if ((type != FXT_OBJECT_PROCESS && type != FXT_OBJECT_THREAD) || at->bytes < 16) {
		r->skipped_nr++;
		return 0;
	}
	koid = fxt_word(r, at->offset + 8);
	name = fxt_string_at(r, scan->provider, fxt_bits(at->header, 24, 16), at->offset, &pos,
			     at->offset + at->bytes);
	if (name == NULL) {
		r->damaged_nr++;
		return 0;
	}
	if (type == FXT_OBJECT_PROCESS)
		return ftr_hashmap_set(&r->process_names, koid & INT32_MAX, name);
	process = object_process(r, scan->provider, at, pos, fxt_bits(at->header, 40, 4));
	task = process == 0 ? fxt_task_by_thread(r, koid) : fxt_task_of(r, process, koid);
	if (task == NULL)
		return -ENOMEM;
	task->name = name->str->s;
	return 0;
}

/* Of the process only the koid counts; its thread ref may be inline, without a thread. */
static int scan_user_object(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	unsigned ref = fxt_bits(at->header, 16, 8);
	uint64_t pos = at->offset + 16, end = at->offset + at->bytes;
	const struct ftr_task *task = NULL;
	const struct fxt_text *name;
	uint64_t process = 0;

	if (at->bytes < (ref == 0 ? 24 : 16)) {
		r->damaged_nr++;
		return 0;
	}
	if (ref != 0) {
		task = fxt_slot_find(&scan->provider->threads[ref], at->offset);
	} else {
		process = fxt_word(r, pos);
		pos += 8;
	}
	name = fxt_string_at(r, scan->provider, fxt_bits(at->header, 24, 16), at->offset, &pos, end);
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
	const struct fxt_text *name = fxt_string_at(r, scan->provider, fxt_bits(at->header, 16, 16),
						    at->offset, &pos, end);
	size_t len = fxt_bits(at->header, 32, 15);

	if (name == NULL || len > end - pos)
		r->damaged_nr++;
	else if (strcmp(name->str->s, FXT_BLOB_INFO) == 0)
		ftr_strbuf_put(&r->info, r->in.data + pos, len);
	else if (strcmp(name->str->s, FXT_BLOB_ENUMS) == 0)
		ftr_strbuf_put(&r->enum_lines, r->in.data + pos, len);
	else
		r->skipped_nr++;
	return 0;
}

static int scan_event(struct scan *scan, const struct fxt_record_at *at)
{
	struct fxt_reader *r = scan->r;
	uint64_t ticks;

	if (at->bytes < 16)
		return 0;	/* counted when it is decoded */
	ticks = fxt_word(r, at->offset + 8);
	if (scan->provider->ticks_per_s != FXT_TICKS_PER_S)
		ticks = (uint64_t)((unsigned __int128)ticks * FXT_TICKS_PER_S /
				   scan->provider->ticks_per_s);
	r->is_unordered |= ticks < scan->last_ns;
	scan->last_ns = ticks;
	if (!scan->has_events || ticks < scan->first_ns)
		scan->first_ns = ticks;
	scan->has_events = true;
	return 0;
}

static int scan_skip(struct scan *scan, const struct fxt_record_at *at)
{
	scan->r->skipped_nr++;
	return 0;
}

static int (*const scans[16])(struct scan *scan, const struct fxt_record_at *at) = {
	[FXT_METADATA]	    = scan_metadata,
	[FXT_INIT]	    = scan_init,
	[FXT_STRING]	    = scan_string,
	[FXT_THREAD]	    = scan_thread,
	[FXT_EVENT]	    = scan_event,
	[FXT_BLOB]	    = scan_blob,
	[FXT_USER_OBJECT]   = scan_user_object,
	[FXT_KERNEL_OBJECT] = scan_object,
	[FXT_SCHEDULING]    = scan_event,
	[FXT_LOG]	    = scan_event,
};

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
	int ret;

	if (r->info.failed || r->enum_lines.failed)
		return scan_no_memory(err);
	if (r->info.len == 0)
		return 0;
	ftr_istream_from_memory(&in, FXT_BLOB_INFO, r->info.s, r->info.len);
	ret = uft_info_parse(r->trace, &in, err);
	ftr_istream_close(&in);
	if (ret < 0 && ret != -ENOMEM) {
		ftr_diag_warn(r->trace->diag, "%s: %s", r->in.name, err->text);
		ret = 0;
	}
	return ret;
}

int fxt_scan(struct fxt_reader *r, struct ftr_err *err)
{
	struct scan scan = { .r = r };
	struct fxt_record_at at;
	uint64_t offset = 0;
	int ret = section_begin(&scan, 0, fxt_provider_add(r, 0));	/* before any is named */

	while (ret == 0 && fxt_record_next(r, &offset, &at, true)) {
		unsigned type = fxt_bits(at.header, 0, 4);

		ret = scans[type] == NULL ? scan_skip(&scan, &at) : scans[type](&scan, &at);
	}
	if (ret < 0 || r->is_failed)
		return scan_no_memory(err);
	if (offset < r->in.size)
		ftr_diag_warn(r->trace->diag, "%s+0x%llx: the last record is cut", r->in.name,
			      (unsigned long long)offset);
	name_tasks(r);
	r->trace->first_ns = scan.first_ns;
	ret = load_info(r, err);
	if (ret == 0 && (fxt_enums_load(r) < 0 || fxt_objects_load(r) < 0))
		ret = scan_no_memory(err);
	return ret;
}
