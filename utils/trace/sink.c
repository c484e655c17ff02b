/* SPDX-License-Identifier: MIT */
/* Making and releasing sinks. */
#include "utils/trace/sink.h"

#include <assert.h>
#include <stdlib.h>

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
