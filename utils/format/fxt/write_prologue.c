/* SPDX-License-Identifier: MIT */
/* FXT writer: what stands before the first event. */
#include <elf.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/fxt/write.h"
#include "utils/format/uftrace/task_line.h"
#include "utils/format/uftrace/write_info.h"
#include "utils/trace/trace.h"

/* Readers forget strings, threads and ticks where a provider is introduced: so that comes first. */
static void put_provider(struct fxt_writer *w)
{
	static const char name[] = "ftr";
	const uint64_t id = fxt_provider_id_bits(FXT_PROVIDER_ID);
	uint64_t *p = fxt_window_put(&w->window, 6);

	*p++ = FXT_MAGIC;
	*p++ = fxt_header(FXT_METADATA, 2) | fxt_metadata_type_bits(FXT_PROVIDER_INFO) | id |
	       fxt_provider_name_len_bits(strlen(name));
	p = fxt_put_text(p, name, (uint32_t)strlen(name));
	*p++ = fxt_header(FXT_METADATA, 1) | fxt_metadata_type_bits(FXT_PROVIDER_SECTION) | id;
	*p++ = fxt_header(FXT_INIT, 2);
	*p = FXT_TICKS_PER_S;
}

/* @name must be a text that fxt_string_id takes; data beyond one record goes into further ones. */
void fxt_write_blob(struct fxt_writer *w, const char *name, const void *data, size_t len)
{
	const char *rest = data;
	uint32_t name_id;

	if (fxt_string_id(w, name, strlen(name), &name_id) < 0)
		return;
	while (len > 0) {
		uint32_t bytes = len > FXT_TEXT_MAX ? FXT_TEXT_MAX : (uint32_t)len;
		uint32_t words = 1 + fxt_text_words(bytes);
		uint64_t ref = fxt_string_ref(w, name_id);
		uint64_t *p = fxt_window_put(&w->window, words);

		p[0] = fxt_header(FXT_BLOB, words) | fxt_blob_name_ref_bits(ref) |
		       fxt_blob_len_bits(bytes) | fxt_blob_type_bits(FXT_BLOB_DATA);
		fxt_put_text(p + 1, rest, bytes);
		rest += bytes;
		len -= bytes;
	}
}

static int put_info(struct fxt_writer *w)
{
	struct ftr_info known = w->trace->info;
	struct ftr_strbuf info;
	bool is_cut;

	known.elf_data = FTR_HOST_IS_BIG ? ELFDATA2MSB : ELFDATA2LSB;	/* of the blob */
	if (w->trace->info.info_mask == 0 && w->trace->info.feature_mask == 0 &&
	    w->trace->info.elf_class == 0)
		return 0;
	ftr_strbuf_init(&info);
	ftr_uftrace_info_format(&info, &known);
	fxt_write_blob(w, FXT_BLOB_INFO, ftr_strbuf_str(&info), info.len);
	is_cut = info.failed;
	ftr_strbuf_fini(&info);
	return is_cut ? fxt_no_memory(w) : 0;
}

bool fxt_session_is_written(const struct ftr_session *session)
{
	const char *exename = session->exename;

	return exename != NULL && exename[0] != '\0' && strchr(exename, '\n') == NULL;
}

static void put_session_line(struct ftr_strbuf *text, const struct ftr_session *session)
{
	struct ftr_task_line line = {
		.kind = FTR_TASK_LINE_SESSION, .time_ns = session->start_ns, .pid = session->pid,
		.name = ftr_slice_make(session->exename, strlen(session->exename)),
	};

	memcpy(line.sid, session->sid, sizeof(line.sid));
	ftr_task_line_put(text, &line);
}

static void put_task_line(struct ftr_strbuf *text, const struct ftr_task *task)
{
	bool is_forked = task->is_forked && task->parent != NULL;
	const struct ftr_task_line line = {
		.kind = is_forked ? FTR_TASK_LINE_FORK : FTR_TASK_LINE_TASK,
		.time_ns = task->start_ns,
		.pid = task->pid,
		.tid = task->tid,
		.ppid = is_forked ? task->parent->tid : 0,
	};

	if (task->start_ns != 0)
		ftr_task_line_put(text, &line);
}

/* Which programs ran when, and who started whom; nothing where the trace does not know. */
static int put_tasks(struct fxt_writer *w)
{
	struct ftr_strbuf text;
	bool is_cut;

	ftr_strbuf_init(&text);
	for (size_t i = 0; i < w->trace->sessions.nr; i++) {
		if (fxt_session_is_written(w->trace->sessions.v[i]))
			put_session_line(&text, w->trace->sessions.v[i]);
	}
	for (size_t i = 0; i < w->trace->tasks.nr; i++)
		put_task_line(&text, w->trace->tasks.v[i]);
	fxt_write_blob(w, FXT_BLOB_TASKS, ftr_strbuf_str(&text), text.len);
	is_cut = text.failed;
	ftr_strbuf_fini(&text);
	return is_cut ? fxt_no_memory(w) : 0;
}

int fxt_write_prologue(struct fxt_writer *w)
{
	int ret;

	put_provider(w);
	ret = put_info(w);
	if (ret == 0)
		ret = put_tasks(w);
	if (ret == 0)
		ret = fxt_write_maps(w);
	for (size_t i = 0; ret == 0 && i < w->trace->tasks.nr; i++) {
		if (fxt_task_get(w, w->trace->tasks.v[i]) == NULL)
			ret = -ENOMEM;
	}
	return ret;
}
