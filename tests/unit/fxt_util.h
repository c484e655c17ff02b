/* SPDX-License-Identifier: MIT */
/*
 * Streams for tests of formats: a trace made by hand, written to memory, read again, and as text.
 */
#ifndef TESTS_UNIT_FXT_UTIL_H
#define TESTS_UNIT_FXT_UTIL_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/ostream.h"
#include "utils/base/sorter.h"
#include "utils/base/strbuf.h"
#include "utils/format/format.h"
#include "utils/object/symtab.h"
#include "utils/trace/args.h"
#include "utils/trace/trace.h"

/* A sink that writes @format into memory, and its input, event by event. */
struct writing {
	struct ftr_trace *trace;
	struct ftr_ostream out;
	struct ftr_sink *sink;
	struct ftr_err err;
};

void writing_begin(struct writing *w, struct ftr_trace *trace, const char *format);
void writing_entry(struct writing *w, struct ftr_task *task, uint64_t time_ns,
		   const struct ftr_func *func, uint32_t depth, const struct ftr_payload *payload);
void writing_exit(struct writing *w, struct ftr_task *task, uint64_t time_ns,
		  const struct ftr_func *func, uint32_t depth, const struct ftr_payload *payload);
void writing_event(struct writing *w, const struct ftr_event *ev);
void writing_end(struct writing *w);	/* w->out.buf holds the file */
void writing_free(struct writing *w);
/*
 * Leave the file as NAME.fxt in the directory FXT_KEEP, if this is set: tests/roundtrip checks it.
 */
void writing_keep(const struct writing *w, const char *name);

struct ftr_task *make_task(struct ftr_trace *trace, int32_t pid, int32_t tid, const char *name);
const struct ftr_func *make_func(struct ftr_trace *trace, const char *module, const char *name);
/* @symbol is borrowed as long as the trace. */
const struct ftr_func *make_symbol(struct ftr_trace *trace, const char *module,
				   const struct ftr_symbol *symbol);

/* An event as a line of text; nothing for an exit of a call that was unfinished. */
void describe_event(struct ftr_strbuf *text, struct ftr_trace *trace, const struct ftr_event *ev);

/*
 * Read an FXT file from memory.  @text (nullable): an array of a text per task id, @task_nr of
 * them.
 * @again (nullable): where the events are written to.  Returns the number of warnings, or -errno.
 */
int reading(const void *bytes, size_t size, struct ftr_strbuf *text, size_t task_nr,
	    struct writing *again);
/* As reading(); files out of order are sorted in @sizes (nullable). */
int reading_sorted(const struct ftr_sort_sizes *sizes, const void *bytes, size_t size,
		   struct ftr_strbuf *text, size_t task_nr, struct writing *again);

#endif /* TESTS_UNIT_FXT_UTIL_H */
