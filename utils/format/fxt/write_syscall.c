/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: system calls.  They are calls like others; what their arguments do not say (resolved
 * paths, numbers of flags, whose child it is) stands in blob ftr.syscalls, in the lines of a data
 * directory.
 */
#include <assert.h>
#include <stdlib.h>

#include "utils/base/ostream.h"
#include "utils/format/etrace/etrace.h"
#include "utils/format/fxt/write.h"
#include "utils/trace/syscall.h"

#define TEXT_KEPT 24000u	/* bytes of lines that wait for a blob */

struct fxt_syscalls {
	struct ftr_ostream text;
	struct ftr_etrace_writer lines;
};

static struct fxt_syscalls *syscalls_new(void)
{
	static const struct ftr_etrace_options options = { .is_extended = true };
	struct fxt_syscalls *self = calloc(1, sizeof(*self));

	if (self == NULL || ftr_ostream_to_memory(&self->text) < 0) {
		free(self);
		return NULL;
	}
	ftr_etrace_writer_init(&self->lines, &self->text, &options);
	return self;
}

int fxt_write_syscall(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_syscall *call = ftr_event_syscall(ev);
	size_t len;

	if (call == NULL)
		return 0;
	if (w->syscalls == NULL)
		w->syscalls = syscalls_new();
	if (w->syscalls == NULL)
		return fxt_no_memory(w);
	len = w->syscalls->text.len;
	assert(call->half == FTR_SYSCALL_WHOLE);
	if (ftr_etrace_write(&w->syscalls->lines, call) < 0)
		return fxt_no_memory(w);
	if (w->syscalls->lines.was_moved) {	/* it would not be found by its time */
		w->syscalls->text.len = len;
		w->syscall_cut_nr++;
	}
	return w->syscalls->text.len < TEXT_KEPT ? 0 : fxt_syscalls_flush(w);
}

int fxt_syscalls_flush(struct fxt_writer *w)
{
	struct ftr_ostream *text = w->syscalls == NULL ? NULL : &w->syscalls->text;

	if (text == NULL)
		return 0;
	if (text->code != 0)
		return fxt_no_memory(w);
	fxt_write_blob(w, FXT_BLOB_SYSCALLS, text->buf, text->len);
	text->len = 0;
	return 0;
}

void fxt_syscalls_fini(struct fxt_writer *w)
{
	if (w->syscalls == NULL)
		return;
	ftr_etrace_writer_fini(&w->syscalls->lines);
	ftr_ostream_close(&w->syscalls->text, NULL);
	free(w->syscalls);
}
