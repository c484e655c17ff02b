/* SPDX-License-Identifier: MIT */
/* What a source that joins others keeps of each of them. */
#ifndef FTR_TRACE_INPUT_H
#define FTR_TRACE_INPUT_H

#include "utils/trace/source.h"

struct ftr_input {
	struct ftr_source *source;	/* (owned) NULL at its end */
	struct ftr_event *evs;		/* (borrowed) what is left of its batch */
	size_t nr;
};

/* See that there is an event.  1, 0 at its end (the source is freed), or -errno. */
static inline int ftr_input_fill(struct ftr_input *input, struct ftr_err *err)
{
	ssize_t nr;

	if (input->nr > 0 || input->source == NULL)
		return input->nr > 0;
	nr = ftr_source_next(input->source, &input->evs, err);
	if (nr > 0) {
		input->nr = (size_t)nr;
		return 1;
	}
	if (nr == 0) {
		ftr_source_free(input->source);
		input->source = NULL;
	}
	return (int)nr;
}

#endif /* FTR_TRACE_INPUT_H */
