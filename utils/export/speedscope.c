/* SPDX-License-Identifier: MIT */
/*
 * Speedscope's own file format: an "evented" profile for each task, so that its time order shows
 * calls as they happened.
 *
 * A profile's events stand together in the file while those of the stream take turns: the texts of
 * each task are collected in a block, and full blocks wait in a scratch file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/analysis/graph.h"
#include "utils/base/ostream.h"
#include "utils/base/scratch.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/format.h"
#include "utils/trace/func.h"
#include "utils/trace/per_task.h"

#define BLOCK_BYTES 8192u
#define EVENT_BYTES 80u		/* at most, of an event's text */

/* A task's profile.  Made-up frames stand for the times that it was not running. */
struct lane {
	const struct ftr_task *task;	/* NULL: new */
	char *block;			/* (owned) BLOCK_BYTES, of which len are used */
	size_t len;
	FTR_VEC(uint64_t) full;		/* places of its full blocks in the scratch file */
	FTR_VEC(uint32_t) open;		/* frames of open calls */
	uint64_t first_ns, last_ns;
	bool has_events;
};

struct frame {
	const struct ftr_func *func;	/* NULL: */
	const char *name;		/* ... of what is no function */
};

struct speedscope {
	struct ftr_sink base;		/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct ftr_per_task lanes;
	struct ftr_scratch scratch;
	FTR_VEC(struct frame) frames;
	FTR_VEC(uint32_t) frame_by_func;	/* plus 1, by func->id; 0 = none yet */
	uint32_t schedule_frames[2];		/* plus 1 */
	uint64_t first_ns;			/* of the trace: times count from here */
	bool has_first;
	uint64_t other_nr;			/* events that are no calls */
	struct ftr_strbuf cut;			/* text for the caller */
};

static struct speedscope *speedscope_of(struct ftr_sink *sink)
{
	return (struct speedscope *)sink;
}

static int no_memory(struct speedscope *self)
{
	return ftr_err_set(self->base.err, ENOMEM, "speedscope: out of memory");
}

/* ---- frames ---- */

/* @frame: where the number of the frame is kept, plus 1. */
static int frame_get(struct speedscope *self, uint32_t *frame, const struct ftr_func *func,
		     const char *name)
{
	if (*frame == 0) {
		if (ftr_vec_push(&self->frames, ((struct frame){ func, name })) < 0)
			return no_memory(self);
		*frame = (uint32_t)self->frames.nr;
	}
	return (int)*frame - 1;
}

static int frame_of_func(struct speedscope *self, const struct ftr_func *func)
{
	if (ftr_vec_reach(&self->frame_by_func, func->id) < 0)
		return no_memory(self);
	return frame_get(self, &self->frame_by_func.v[func->id], func, NULL);
}

static void put_frame(struct ftr_ostream *out, const struct frame *frame)
{
	const struct ftr_func *func = frame->func;

	ftr_ostream_puts(out, "{\"name\":");
	if (func == NULL)
		ftr_ostream_json_string(out, frame->name, strlen(frame->name));
	else
		ftr_ostream_json_string(out, func->name, func->name_len);
	if (func != NULL && func->src_file != NULL) {
		ftr_ostream_puts(out, ",\"file\":");
		ftr_ostream_json_string(out, func->src_file, strlen(func->src_file));
		ftr_ostream_printf(out, ",\"line\":%u", func->src_line);
	} else if (func != NULL && func->module != NULL && *func->module->path != '\0') {
		ftr_ostream_puts(out, ",\"file\":");
		ftr_ostream_json_string(out, func->module->path, strlen(func->module->path));
	}
	ftr_ostream_putc(out, '}');
}

/* ---- a task's events ---- */

static struct lane *lane_of(struct speedscope *self, const struct ftr_event *ev)
{
	struct lane *lane = ftr_per_task_get(&self->lanes, ev->task);

	if (lane == NULL)
		return NULL;
	if (!self->has_first) {
		self->first_ns = ev->time_ns;
		self->has_first = true;
	}
	if (lane->task != NULL)
		return lane;
	lane->block = malloc(BLOCK_BYTES);
	if (lane->block == NULL)
		return NULL;
	lane->task = ev->task;
	return lane;
}

static int lane_flush(struct speedscope *self, struct lane *lane)
{
	int ret;

	if (self->scratch.fd < 0 && (ret = ftr_scratch_open(&self->scratch, self->base.err)) < 0)
		return ret;
	if (ftr_vec_push(&lane->full, self->scratch.bytes) < 0)
		return no_memory(self);
	lane->len = 0;
	return ftr_scratch_append(&self->scratch, lane->block, BLOCK_BYTES, self->base.err);
}

static int lane_put(struct speedscope *self, struct lane *lane, const char *text, size_t len)
{
	while (len > 0) {
		size_t nr = len < BLOCK_BYTES - lane->len ? len : BLOCK_BYTES - lane->len;
		int ret;

		memcpy(lane->block + lane->len, text, nr);
		lane->len += nr;
		text += nr;
		len -= nr;
		if (lane->len == BLOCK_BYTES && (ret = lane_flush(self, lane)) < 0)
			return ret;
	}
	return 0;
}

/* @type: 'O' opens a frame, 'C' closes it.  Speedscope refuses times that go back. */
static int lane_event(struct speedscope *self, struct lane *lane, char type, uint32_t frame,
		      uint64_t time_ns)
{
	uint64_t ns = time_ns > self->first_ns ? time_ns - self->first_ns : 0;
	char text[EVENT_BYTES], *p = text;

	if (lane->has_events && ns < lane->last_ns)
		ns = lane->last_ns;
	if (lane->has_events)
		p = stpcpy(p, ",\n");
	else
		lane->first_ns = ns;
	lane->has_events = true;
	lane->last_ns = ns;
	p = stpcpy(p, "{\"type\":\"");
	*p++ = type;
	p = stpcpy(p, "\",\"frame\":");
	p = ftr_fmt_u64(p, frame);
	p = stpcpy(p, ",\"at\":");
	p = ftr_fmt_u64(p, ns);
	*p++ = '}';
	return lane_put(self, lane, text, (size_t)(p - text));
}

static int lane_open(struct speedscope *self, struct lane *lane, int frame, uint64_t time_ns)
{
	if (frame < 0)
		return frame;
	if (ftr_vec_push(&lane->open, (uint32_t)frame) < 0)
		return no_memory(self);
	return lane_event(self, lane, 'O', (uint32_t)frame, time_ns);
}

static int lane_close(struct speedscope *self, struct lane *lane, uint64_t time_ns)
{
	return lane_event(self, lane, 'C', lane->open.v[--lane->open.nr], time_ns);
}

/* Of a frame that is open: with those inside, whose ends rules may have left out. */
static int lane_close_to(struct speedscope *self, struct lane *lane, int frame, uint64_t time_ns)
{
	size_t nr = lane->open.nr;
	int ret = 0;

	if (frame < 0)
		return frame;
	while (nr > 0 && lane->open.v[nr - 1] != (uint32_t)frame)
		nr--;
	while (nr > 0 && ret == 0 && lane->open.nr >= nr)
		ret = lane_close(self, lane, time_ns);
	return ret;
}

static int lane_schedule(struct speedscope *self, struct lane *lane, const struct ftr_event *ev)
{
	struct ftr_graph_key key;
	int frame, ret;

	if (!ftr_graph_schedule_key(ev, &key)) {
		self->other_nr += !ftr_event_id_is_sched(ftr_event_kind_id(ev));
		return 0;
	}
	frame = frame_get(self, &self->schedule_frames[key.name_id - FTR_GRAPH_SCHEDULE], NULL,
			  key.name);
	ret = lane_open(self, lane, frame, key.time_ns);
	return ret < 0 ? ret : lane_close(self, lane, ev->time_ns);
}

static int speedscope_event(struct ftr_sink *sink, const struct ftr_event *ev)
{
	struct speedscope *self = speedscope_of(sink);
	struct lane *lane = lane_of(self, ev);

	if (lane == NULL)
		return no_memory(self);
	switch (ev->type) {
	case FTR_EVENT_ENTRY:
		return lane_open(self, lane, frame_of_func(self, ev->call.func), ev->time_ns);
	case FTR_EVENT_EXIT:
		return lane_close_to(self, lane, frame_of_func(self, ev->call.func), ev->time_ns);
	default:
		return lane_schedule(self, lane, ev);
	}
}

/* ---- the file ---- */

static int copy_full(struct speedscope *self, const struct lane *lane)
{
	char block[BLOCK_BYTES];

	for (size_t i = 0; i < lane->full.nr; i++) {
		int ret = ftr_scratch_read(&self->scratch, lane->full.v[i], block, BLOCK_BYTES,
					   self->base.err);

		if (ret < 0)
			return ret;
		ftr_ostream_write(self->base.out, block, BLOCK_BYTES);
	}
	return 0;
}

static int put_profile(struct speedscope *self, struct lane *lane, bool is_first)
{
	const struct ftr_task *task = lane->task;
	struct ftr_ostream *out = self->base.out;
	struct ftr_strbuf name;
	int ret = 0;

	while (lane->open.nr > 0 && ret == 0)
		ret = lane_close(self, lane, lane->last_ns + self->first_ns);
	if (ret < 0)
		return ret;
	ftr_strbuf_init(&name);
	ftr_strbuf_printf(&name, "%s (%d)", task->name, task->tid);
	ftr_ostream_puts(out, is_first ? "\n" : ",\n");
	ftr_ostream_puts(out, "{\"type\":\"evented\",\"name\":");
	ftr_ostream_json_string(out, ftr_strbuf_str(&name), name.len);
	ftr_ostream_puts(out, ",\"unit\":\"nanoseconds\",\"startValue\":");
	ftr_ostream_u64(out, lane->first_ns);
	ftr_ostream_puts(out, ",\"endValue\":");
	ftr_ostream_u64(out, lane->last_ns);
	ftr_ostream_puts(out, ",\"events\":[\n");
	ftr_strbuf_fini(&name);
	ret = copy_full(self, lane);
	ftr_ostream_write(out, lane->block, lane->len);
	ftr_ostream_puts(out, "]}");
	return ret;
}

static int speedscope_begin(struct ftr_sink *sink, const struct ftr_trace *trace)
{
	struct speedscope *self = speedscope_of(sink);

	self->trace = trace;
	self->lanes.bytes = sizeof(struct lane);
	self->scratch = FTR_SCRATCH_CLOSED;
	return 0;
}

static int speedscope_end(struct ftr_sink *sink)
{
	struct speedscope *self = speedscope_of(sink);
	const char *title = self->trace->info.cmdline;
	bool is_first = true;
	struct lane *lane;
	size_t pos = 0;

	if (title == NULL)
		title = self->trace->path;
	ftr_ostream_puts(sink->out,
			 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			 "\n\"exporter\":\"ftr\",\"name\":");
	ftr_ostream_json_string(sink->out, title, strlen(title));
	ftr_ostream_puts(sink->out, ",\n\"profiles\":[");
	while ((lane = ftr_per_task_next(&self->lanes, &pos)) != NULL) {
		int ret = lane->has_events ? put_profile(self, lane, is_first) : 0;

		if (ret < 0)
			return ret;
		is_first &= !lane->has_events;
	}
	ftr_ostream_puts(sink->out, "],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < self->frames.nr; i++) {
		ftr_ostream_puts(sink->out, i == 0 ? "\n" : ",\n");
		put_frame(sink->out, &self->frames.v[i]);
	}
	ftr_ostream_puts(sink->out, "]}}\n");
	ftr_sink_cut(sink, &self->cut, self->other_nr, "events");
	return self->cut.failed ? no_memory(self) : 0;
}

static void speedscope_fini(struct ftr_sink *sink)
{
	struct speedscope *self = speedscope_of(sink);
	struct lane *lane;
	size_t pos = 0;

	while ((lane = ftr_per_task_next(&self->lanes, &pos)) != NULL) {
		free(lane->block);
		ftr_vec_fini(&lane->full);
		ftr_vec_fini(&lane->open);
	}
	ftr_per_task_fini(&self->lanes);
	ftr_strbuf_fini(&self->cut);
	ftr_scratch_close(&self->scratch);
	ftr_vec_fini(&self->frames);
	ftr_vec_fini(&self->frame_by_func);
}

static const struct ftr_sink_ops speedscope_ops = {
	.size	 = sizeof(struct speedscope),
	.accepts = FTR_BIT(FTR_EVENT_ENTRY) | FTR_BIT(FTR_EVENT_EXIT) | FTR_BIT(FTR_EVENT_POINT),
	.begin	 = speedscope_begin,
	.event	 = speedscope_event,
	.end	 = speedscope_end,
	.fini	 = speedscope_fini,
};

const struct ftr_format ftr_format_speedscope = {
	.name	 = "speedscope",
	.summary = "a timeline and flame graphs of each task for speedscope",
	.suffix	 = ".speedscope.json",
	.kind	 = FTR_FORMAT_FILE,
	.write	 = &speedscope_ops,
};
