/* SPDX-License-Identifier: MIT */
/* See trace_util.h. */
#include "tests/unit/trace_util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct ftr_trace *trace;

int trace_setup(void **state)
{
	trace = ftr_trace_new("test", NULL);
	return trace == NULL;
}

int trace_teardown(void **state)
{
	ftr_trace_free(trace);
	return 0;
}

void expect(struct ftr_source *source, bool has_details, const char *text)
{
	struct ftr_strbuf got;

	ftr_strbuf_init(&got);
	stream_text(source, has_details, &got);
	assert_string_equal(ftr_strbuf_str(&got), text);
	ftr_strbuf_fini(&got);
}
