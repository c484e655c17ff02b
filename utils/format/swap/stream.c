/* SPDX-License-Identifier: MIT */
/*
 * A SWAP stream as it comes from a pipe or a connection (doc/adr/0034): one source of all tasks, in
 * the order of the messages.  The form of its times is that of the first message.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/read.h"

#define MESSAGE_MAX (FTR_ISTREAM_ITEM_MAX - SWAP_HEADER_BYTES)

struct swap_stream {
	struct swap_source *made;	/* (owned) makes the events */
	size_t task_nr, session_nr;	/* that know of each other */
	size_t used;			/* bytes of the input that the last batch was made of */
	uint32_t sequence;		/* of the next message */
	bool is_begun, is_ended;
};

struct stream_source {
	struct ftr_source base;
	struct swap_reader *r;
};

static enum swap_time_form form_of(const uint8_t *time)
{
	return ftr_get_u32(time, false) >= SWAP_NS_PER_S ? SWAP_TIME_LEGACY : SWAP_TIME_DOCUMENT;
}

/* New tasks get the programs of their process, and new programs go to their process's tasks. */
static int link_new(struct swap_reader *r)
{
	struct swap_stream *stream = r->stream;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->trace->tasks.nr; i++) {
		struct ftr_task *task = r->trace->tasks.v[i];
		size_t k = i < stream->task_nr ? stream->session_nr : 0;

		for (; ret == 0 && k < r->sessions.nr; k++) {
			if (r->sessions.v[k]->pid == task->pid)
				ret = ftr_trace_task_add_session(r->trace, task, r->sessions.v[k]);
		}
	}
	stream->task_nr = r->trace->tasks.nr;
	stream->session_nr = r->sessions.nr;
	return ret;
}

/* How many messages are missing before this one. */
static uint32_t gap_take(struct swap_stream *stream, uint32_t sequence)
{
	uint32_t gap = stream->is_begun ? sequence - stream->sequence : 0;

	stream->is_begun = true;
	stream->sequence = sequence + 1;
	return gap < SWAP_GAP_MAX ? gap : 0;
}

/* 0 or -ENOMEM. */
static int message_take(struct swap_reader *r, const uint8_t *p)
{
	struct swap_stream *stream = r->stream;
	const struct swap_message *message;
	struct swap_header header;
	struct ftr_task *task;
	int ret = 0;

	if (!stream->is_begun)
		r->layout.time_form = form_of(p + 8);
	header = swap_header_get(p, r);
	message = swap_message_decode(r, p, &header);
	r->damaged_nr += message == NULL && swap_message_find(header.id) != NULL;
	task = swap_task_of(r, message);
	if (message != NULL && header.id == SWAP_MSG_PROCESS_INFO)
		ret = swap_process_info(r, header.time_ns);
	else if (message != NULL && header.id == SWAP_MSG_PROCESS_MAP)
		ret = swap_process_map(r, header.time_ns);
	else if (message != NULL && header.id == SWAP_MSG_PROBE_CUSTOM)
		ret = swap_series_note(r);
	if (task == NULL || ret < 0)
		return -ENOMEM;
	if (r->trace->tasks.nr > stream->task_nr || r->sessions.nr > stream->session_nr)
		ret = link_new(r);
	return ret < 0 ? ret : swap_source_add(stream->made, task, p,
					       gap_take(stream, header.sequence));
}

static void end_of_damage(struct swap_reader *r, const char *what)
{
	r->stream->is_ended = true;
	ftr_diag_warn(r->trace->diag, "%s+%#llx: %s; the rest of the stream is not shown",
		      r->in.name, (unsigned long long)ftr_istream_offset(&r->in), what);
}

/* The bytes of the next message, all there, or 0 at the end. */
static size_t message_await(struct swap_reader *r)
{
	const uint8_t *p;
	size_t have = ftr_istream_peek(&r->in, SWAP_HEADER_BYTES, &p), len;

	if (have < SWAP_HEADER_BYTES) {
		if (have > 0)
			end_of_damage(r, "a message is cut off");
		return 0;
	}
	len = ftr_get_u32(p + 16, false);
	if (len > MESSAGE_MAX || ftr_get_u32(p, false) - 1 >= SWAP_ID_MAX) {
		end_of_damage(r, "not a message");
		return 0;
	}
	have = ftr_istream_peek(&r->in, SWAP_HEADER_BYTES + len, &p);
	if (have >= SWAP_HEADER_BYTES + len)
		return have;
	end_of_damage(r, "a message is cut off");
	return 0;
}

/* The whole messages of the @have bytes that are there, as far as a batch takes them. */
static int batch_make(struct swap_reader *r, size_t have)
{
	struct swap_stream *stream = r->stream;
	const uint8_t *p;
	int ret = 0;

	ftr_istream_peek(&r->in, 1, &p);
	while (ret == 0 && !swap_source_is_full(stream->made)) {
		size_t left = have - stream->used, len;

		if (left < SWAP_HEADER_BYTES)
			break;
		len = ftr_get_u32(p + stream->used + 16, false);
		if (len > left - SWAP_HEADER_BYTES ||
		    ftr_get_u32(p + stream->used, false) - 1 >= SWAP_ID_MAX)
			break;
		ret = message_take(r, p + stream->used);
		stream->used += SWAP_HEADER_BYTES + len;
	}
	return ret;
}

static ssize_t stream_next(struct ftr_source *source, struct ftr_event **evs, struct ftr_err *err)
{
	struct swap_reader *r = ((struct stream_source *)source)->r;
	struct swap_stream *stream = r->stream;
	ssize_t nr = 0;
	size_t have;

	while (nr == 0 && !stream->is_ended) {
		(void)ftr_istream_take(&r->in, stream->used);
		stream->used = 0;
		swap_source_begin(stream->made);
		have = message_await(r);
		if (have == 0)
			break;
		nr = batch_make(r, have);
		if (nr == 0)
			nr = swap_source_end(stream->made, evs);
	}
	return nr < 0 ? ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name) : nr;
}

static void stream_source_free(struct ftr_source *source)
{
	free(source);
}

static const struct ftr_source_ops stream_ops = {
	.next = stream_next,
	.free = stream_source_free,
};

void swap_stream_free(struct swap_stream *stream)
{
	if (stream == NULL)
		return;
	swap_source_free((struct ftr_source *)stream->made);
	free(stream);
}

int swap_stream_open(struct swap_reader *r, struct ftr_err *err)
{
	struct stream_source *source = calloc(1, sizeof(*source));

	r->layout.device_nr = UINT32_MAX;
	r->stream = calloc(1, sizeof(*r->stream));
	if (r->stream != NULL)
		r->stream->made = (struct swap_source *)swap_source_new(r, NULL);
	if (source == NULL || r->stream == NULL || r->stream->made == NULL ||
	    ftr_vec_push(&r->trace->sources, &source->base) < 0) {
		free(source);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", r->in.name);
	}
	source->base.ops = &stream_ops;
	source->r = r;
	r->trace->is_growing = true;
	r->trace->is_ordered = true;
	return 0;
}
