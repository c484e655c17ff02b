/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: where modules lay in memory, image by image; lines of blob ftr.symbols (doc/fxt.md).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "utils/format/fxt/write.h"
#include "utils/trace/trace.h"

static bool is_file(const struct ftr_mapping *mapping)
{
	const char *path = mapping->module->path;

	return !mapping->is_overlay && path[0] != '\0' && strpbrk(path, "\t\n") == NULL;
}

/* "B MODULE START END SINCE" */
static int put_base(struct fxt_writer *w, const struct ftr_mapping *mapping,
		    struct ftr_strbuf *text)
{
	const struct ftr_module *module = mapping->module;
	uint32_t number;
	int ret;

	ret = fxt_module_number(w, module, text, &number);
	if (ret == 0 && ftr_hashmap_set(&w->mapped, module->id, w) < 0)
		ret = fxt_no_memory(w);
	ftr_strbuf_printf(text, "B\t%u\t%" PRIx64 "\t%" PRIx64 "\t%" PRIu64 "\n", number,
			  mapping->start, mapping->is_open ? 0 : mapping->end, mapping->since_ns);
	return ret;
}

/* "S SID" and what is mapped there. */
static int put_session(struct fxt_writer *w, const struct ftr_session *session,
		       struct ftr_strbuf *text)
{
	bool has_files = false;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < session->mappings.nr; i++) {
		if (!is_file(&session->mappings.v[i]))
			continue;
		if (!has_files)
			ftr_strbuf_printf(text, "S\t%.16s\n", session->sid);
		has_files = true;
		ret = put_base(w, &session->mappings.v[i], text);
	}
	return ret;
}

int fxt_write_maps(struct fxt_writer *w)
{
	const struct ftr_trace *trace = w->trace;
	struct ftr_strbuf text;
	int ret = 0;

	ftr_strbuf_init(&text);
	for (size_t i = 0; ret == 0 && i < trace->sessions.nr; i++) {
		if (fxt_session_is_written(trace->sessions.v[i]))
			ret = put_session(w, trace->sessions.v[i], &text);
	}
	if (ret == 0 && text.failed)
		ret = fxt_no_memory(w);
	if (ret == 0)
		fxt_write_blob(w, FXT_BLOB_SYMBOLS, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

uint64_t fxt_call_place(const struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_module *module = ev->call.func->module;
	const struct ftr_mapping *mapping;
	uint64_t addr = ev->call.addr;

	if (module == NULL || session == NULL || ftr_hashmap_find(&w->mapped, module->id) == NULL)
		return addr;
	mapping = ftr_session_find(session, ev->time_ns, addr);
	if (mapping == NULL || mapping->module != module)
		mapping = ftr_session_find_module(session, module, ev->time_ns);
	if (mapping == NULL)		/* it counts from 0 there */
		return addr;
	return addr < mapping->start ? 0 : addr - mapping->start;
}
