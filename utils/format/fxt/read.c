/* SPDX-License-Identifier: MIT */
/* FXT reader: a file becomes a trace with one source. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/fxt/fxt.h"
#include "utils/format/fxt/read.h"

bool ftr_fxt_detect(const char *path, const uint8_t *head, size_t len)
{
	return len >= 8 && (ftr_get_u64(head, false) == FXT_MAGIC ||
			    ftr_get_u64(head, true) == FXT_MAGIC);
}

/* Warn once about what the reader skipped, when everything was read. */
static void reader_free(void *arg)
{
	struct fxt_reader *r = arg;
	const struct {
		uint64_t nr;
		const char *what;
	} rows[] = {
		{ r->damaged_nr, "damaged records or arguments skipped" },
		{ r->damaged_shape_nr, "layouts of structs that cannot be understood" },
		{ r->skipped_nr, "records of unsupported kinds skipped" },
		{ r->overlap_nr, "calls outlast their callers and were shortened" },
		{ r->stray_nr, "ends of calls without a begin skipped" },
		{ r->is_ended && r->filled_nr > r->lost_nr ? r->filled_nr : 0,
		  "times a provider's buffer was full; records are missing" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].nr > 0)
			ftr_diag_warn(r->trace->diag, "%s: %llu %s", r->in.name,
				      (unsigned long long)rows[i].nr, rows[i].what);
	}
	fxt_types_fini(r);
	fxt_objects_fini(r);
	fxt_tables_fini(r);
	ftr_istream_close(&r->in);
	free(r);
}

static int names_init(struct fxt_reader *r)
{
	const struct {
		const struct fxt_text **text;
		const char *s;
	} rows[] = {
		{ &r->empty, "" },
		{ &r->own, FXT_CATEGORY },
		{ &r->name_lost[FTR_LOST_OF_TASK], FXT_NAME_LOST },
		{ &r->name_lost[FTR_LOST_OF_PERF], FXT_NAME_LOST_PERF },
		{ &r->name_lost[FTR_LOST_OF_KERNEL], FXT_NAME_LOST_KERNEL },
		{ &r->name_fork, FXT_NAME_FORK },
		{ &r->name_thread, FXT_NAME_THREAD },
		{ &r->name_message, FXT_NAME_MESSAGE },
		{ &r->name_more, FXT_NAME_MORE_ARGS },
		{ &r->key_symbol, FXT_KEY_SYMBOL },
		{ &r->key_loc, FXT_KEY_LOC },
		{ &r->key_child, FXT_KEY_CHILD },
		{ &r->key_records, FXT_KEY_RECORDS },
		{ &r->key_inferred, FXT_KEY_INFERRED },
		{ &r->key_no_entry, FXT_KEY_NO_ENTRY },
		{ &r->key_text, FXT_KEY_TEXT },
		{ &r->key_data, FXT_KEY_DATA },
		{ &r->key_hex, FXT_KEY_HEX },
		{ &r->key_tracepoint, FXT_KEY_TRACEPOINT },
		{ &r->key_cpu, FXT_KEY_CPU },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*rows[i].text = fxt_text_get(r, rows[i].s, strlen(rows[i].s));
		if (*rows[i].text == NULL)
			return -ENOMEM;
	}
	r->name_wakeup = fxt_text_get(r, FXT_EVENT_WAKEUP, strlen(FXT_EVENT_WAKEUP));
	return r->name_wakeup == NULL ? -ENOMEM : 0;
}

static int source_add(struct fxt_reader *r, struct ftr_err *err)
{
	struct ftr_source *source = fxt_source_new(r);

	if (source == NULL || (!r->is_unordered && fxt_walk_begin(r, false) < 0) ||
	    ftr_vec_push(&r->trace->sources, source) < 0) {
		ftr_source_free(source);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	}
	r->trace->is_ordered = true;
	return 0;
}

int ftr_fxt_read_stream(struct ftr_trace *trace, struct ftr_istream *in,
			const struct ftr_sort_sizes *sizes, struct ftr_err *err)
{
	struct fxt_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL) {
		ftr_istream_close(in);
		return ftr_err_set(err, ENOMEM, "fxt: out of memory");
	}
	r->trace = trace;
	assert(in->window == NULL);
	r->in = *in;
	*in = (struct ftr_istream){ 0 };
	trace->reader = r;
	trace->reader_free = reader_free;
	ftr_strpool_init(&r->pool);
	ftr_etrace_log_init(&r->syscalls);
	if (sizes != NULL)
		r->sort_sizes = *sizes;
	if (!ftr_fxt_detect(NULL, r->in.data, r->in.size))
		return ftr_err_set(err, EBADMSG, "%s: not a Fuchsia trace; it does not begin with "
				   "the magic number", r->in.name);
	r->is_big = ftr_get_u64(r->in.data, false) != FXT_MAGIC;
	if (names_init(r) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	ret = fxt_scan(r, err);
	if (ret == 0 && r->is_unordered)
		ret = fxt_order_build(r, err);
	return ret < 0 ? ret : source_add(r, err);
}

int ftr_fxt_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	return ftr_fxt_read_stream(trace, in, NULL, err);
}
