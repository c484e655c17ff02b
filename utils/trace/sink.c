/* SPDX-License-Identifier: MIT */
/* Making and releasing sinks. */
#include "utils/trace/sink.h"

#include <assert.h>
#include <stdlib.h>

#include "utils/base/strbuf.h"

struct ftr_sink *ftr_sink_new(const struct ftr_sink_ops *ops, struct ftr_ostream *out,
			      struct ftr_err *err)
{
	struct ftr_sink *sink;

	assert(ops->size >= sizeof(*sink));
	sink = calloc(1, ops->size);
	if (sink == NULL)
		return NULL;
	sink->ops = ops;
	sink->out = out;
	sink->err = err;
	return sink;
}

void ftr_sink_free(struct ftr_sink *sink)
{
	if (sink == NULL)
		return;
	if (sink->ops->fini != NULL)
		sink->ops->fini(sink);
	free(sink);
}

void ftr_sink_cut(struct ftr_sink *sink, struct ftr_strbuf *text, uint64_t nr, const char *what)
{
	if (nr == 0)
		return;
	ftr_strbuf_printf(text, "%s%llu %s", text->len == 0 ? "details: " : ", ",
			  (unsigned long long)nr, what);
	sink->cut_nr += nr;
	sink->cut_what = ftr_strbuf_str(text);
}
