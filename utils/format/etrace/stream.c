/* SPDX-License-Identifier: MIT */
/*
 * System calls of the etrace text as they come (doc/adr/0034): one source for all tasks, which are
 * added when they are mentioned first.  A call is known at its end, so calls come in the order of
 * their ends, and of no more than one for each task anything is kept.
 */
#include "utils/format/etrace/events.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/format/etrace/load.h"
#include "utils/format/etrace/make.h"
#include "utils/trace/per_task.h"

struct etrace_stream {
	struct ftr_istream in;
	struct ftr_etrace_log log;	/* the records that the last line completed */
	struct ftr_etrace_loader loader;
	struct ftr_etrace_maker maker;
	size_t pos;			/* in the log */
	bool is_ended;
};

struct stream_source {
	struct ftr_source base;
	struct etrace_stream *stream;
	struct ftr_per_task images;	/* bool: an exec ended the calls around the next */
	struct ftr_etrace_batch batch;
};

/* See that there is a record, unless the text has ended.  0 or -ENOMEM. */
static int stream_fill(struct etrace_stream *stream)
{
	struct ftr_err err;

	if (stream->pos < stream->log.calls.nr || stream->is_ended)
		return 0;
	ftr_etrace_loader_forget(&stream->loader);
	stream->pos = 0;
	while (stream->log.calls.nr == 0) {
		if (ftr_etrace_loader_line(&stream->loader))
			continue;
		stream->is_ended = true;
		if (ftr_istream_check(&stream->in, &err) < 0)
			ftr_diag_warn(stream->maker.trace->diag,
				      "%s; the rest of the trace is missing", err.text);
		return ftr_etrace_loader_end(&stream->loader);
	}
	return stream->loader.has_failed ? -ENOMEM : 0;
}

static int take_call(struct stream_source *self, const struct ftr_syscall *call)
{
	struct ftr_task *task;
	bool *is_new_image;

	if (ftr_etrace_apply(&self->stream->maker, call, &task) < 0)
		return -ENOMEM;
	is_new_image = ftr_per_task_get(&self->images, task);
	return is_new_image == NULL ? -ENOMEM :
				      ftr_etrace_batch_add(&self->batch, task, call, is_new_image);
}

static ssize_t stream_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct stream_source *self = (struct stream_source *)source;
	struct etrace_stream *stream = self->stream;
	int ret = stream_fill(stream);
	ssize_t nr;

	ftr_etrace_batch_begin(&self->batch);
	while (ret == 0 && stream->pos < stream->log.calls.nr &&
	       !ftr_etrace_batch_is_full(&self->batch))
		ret = take_call(self, &stream->log.calls.v[stream->pos++]);
	nr = ftr_etrace_batch_end(&self->batch, evs);
	return ret < 0 || nr < 0 ? ftr_err_set(err, ENOMEM, "out of memory") : nr;
}

static void stream_source_free(struct ftr_source *source)
{
	struct stream_source *self = (struct stream_source *)source;

	ftr_strbuf_fini(&self->batch.bytes);
	ftr_per_task_fini(&self->images);
	free(self);
}

static const struct ftr_source_ops stream_source_ops = {
	.next = stream_next,
	.free = stream_source_free,
};

static int source_add(struct etrace_stream *stream, struct ftr_trace *trace)
{
	struct stream_source *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return -ENOMEM;
	self->base.ops = &stream_source_ops;
	self->stream = stream;
	self->images.bytes = sizeof(bool);
	self->batch.maker = &stream->maker;
	if (ftr_vec_push(&trace->sources, &self->base) < 0) {
		stream_source_free(&self->base);
		return -ENOMEM;
	}
	return 0;
}

static void stream_free(void *reader)
{
	struct etrace_stream *stream = reader;

	ftr_etrace_loader_fini(&stream->loader);
	ftr_etrace_log_fini(&stream->log);
	ftr_etrace_maker_fini(&stream->maker);
	ftr_istream_close(&stream->in);
	free(stream);
}

static void warn(void *arg, const char *text)
{
	ftr_diag_warn(arg, "%s", text);
}

/* The first record is waited for: without any this is no trace. */
int ftr_etrace_stream_open(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err)
{
	struct etrace_stream *stream = calloc(1, sizeof(*stream));

	if (stream == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", in->name);
	stream->in = *in;
	*in = (struct ftr_istream){ 0 };
	ftr_etrace_log_init(&stream->log);
	ftr_etrace_loader_init(&stream->loader, &stream->log, &stream->in);
	stream->loader.is_stream = true;
	stream->loader.violation = warn;
	stream->loader.violation_arg = trace->diag;
	trace->reader = stream;
	trace->reader_free = stream_free;
	trace->has_syscalls = true;
	trace->is_ordered = true;
	trace->is_growing = true;
	if (ftr_etrace_maker_init(&stream->maker, trace) < 0 || stream_fill(stream) < 0 ||
	    source_add(stream, trace) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", stream->in.name);
	if (stream->log.calls.nr == 0)
		return ftr_etrace_describe_empty(&stream->in, err);
	trace->first_ns = stream->log.calls.v[0].start_ns;
	return 0;
}
