/* SPDX-License-Identifier: MIT */
/* The window of records that can still be completed. */
#include "utils/format/fxt/window.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/ostream.h"
#include "utils/format/fxt/layout.h"

int fxt_window_init(struct fxt_window *window, struct ftr_ostream *out)
{
	*window = (struct fxt_window){ .out = out };
	window->words = malloc(FXT_WINDOW_WORDS * sizeof(*window->words));
	return window->words == NULL ? -ENOMEM : 0;
}

void fxt_window_fini(struct fxt_window *window)
{
	free(window->words);
	window->words = NULL;
}

static bool record_is_open_call(const uint64_t *record, size_t words)
{
	return fxt_record_type(*record) == FXT_EVENT &&
	       fxt_event_type(*record) == FXT_DURATION_COMPLETE &&
	       record[words - 1] == FXT_PENDING;
}

/* Complete becomes Begin: another event type, and one word less. */
static void record_make_begin(uint64_t *record)
{
	*record -= fxt_record_words_bits(1);
	*record -= fxt_event_type_bits(FXT_DURATION_COMPLETE - FXT_DURATION_BEGIN);
}

void fxt_window_flush(struct fxt_window *window)
{
	size_t start = 0;
	size_t pos = 0;

	while (pos < window->nr) {
		uint64_t *record = window->words + pos;
		size_t words = fxt_record_words(*record);

		pos += words;
		if (__builtin_expect(!record_is_open_call(record, words), 1))
			continue;
		record_make_begin(record);
		ftr_ostream_write(window->out, window->words + start,
				  (pos - 1 - start) * sizeof(*record));
		start = pos;
	}
	ftr_ostream_write(window->out, window->words + start,
			  (pos - start) * sizeof(*window->words));
	window->base += window->nr;
	window->nr = 0;
}
