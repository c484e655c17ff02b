/* SPDX-License-Identifier: MIT */
/* One line of replay.  No printf: a trace has as many lines as calls. */
#include "utils/view/replay_line.h"

#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/trace/task.h"
#include "utils/view/fields.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADDR_WIDTH	12
#define TIME_WIDTH	18	/* "%8lu.%09lu" */
#define TASK_WIDTH	15
#define MODULE_WIDTH	16
#define STREAM_ROOM	4096	/* what ftr_ostream_reserve never refuses */
#define INDENT_STEP	64	/* blanks put at once; a line has room for so many too many */

typedef char *field_put(char *p, const struct replay_layout *layout,
			const struct replay_line *line);

static char *put_blanks(char *p, size_t nr)
{
	memset(p, ' ', nr);
	return p + nr;
}

/*
 * As put_blanks, but writes up to INDENT_STEP bytes behind the end: a call of memset costs more,
 * and so does a loop whose rounds cannot be predicted.
 */
static char *put_indent(char *p, size_t nr)
{
	static const char blanks[] = "                                "
				     "                                ";
	size_t i = 0;

	static_assert(sizeof(blanks) == INDENT_STEP + 1, "blanks are of one step");
	do
		memcpy(p + i, blanks, INDENT_STEP);
	while (__builtin_expect((i += INDENT_STEP) < nr, 0));
	return p + nr;
}

#define DURATION_WIDTH 10

static char *put_duration(char *p, const struct replay_layout *layout,
			  const struct replay_line *line)
{
	size_t len;

	if (__builtin_expect(line->what == NULL, 1))
		return ftr_duration_put(p, line->duration_ns, layout->use_color);
	len = strlen(line->what);
	return replay_put(put_blanks(p, DURATION_WIDTH - len), line->what, len);
}

static char *put_tid(char *p, const struct replay_layout *layout, const struct replay_line *line)
{
	return replay_put(p, line->tid_text, REPLAY_TID_CHARS);
}

static char *put_addr(char *p, const struct replay_layout *layout, const struct replay_line *line)
{
	char text[16];
	size_t len;

	if (line->addr == 0)
		return put_blanks(p, ADDR_WIDTH);
	len = (size_t)(ftr_fmt_hex(text, line->addr) - text);
	if (len < ADDR_WIDTH)
		p = put_blanks(p, ADDR_WIDTH - len);
	return replay_put(p, text, len);
}

static char *put_time(char *p, const struct replay_layout *layout, const struct replay_line *line)
{
	uint64_t sec = line->time_ns / 1000000000;
	char text[20];
	size_t len = (size_t)(ftr_fmt_u64(text, sec) - text);

	if (len < 8)
		p = put_blanks(p, 8 - len);
	p = replay_put(p, text, len);
	*p++ = '.';
	return ftr_nanos_put(p, (uint32_t)(line->time_ns - sec * 1000000000));
}

static char *put_delta(char *p, const struct replay_layout *layout, const struct replay_line *line)
{
	return ftr_duration_put(p, line->delta_ns, layout->use_color);
}

static char *put_elapsed(char *p, const struct replay_layout *layout,
			 const struct replay_line *line)
{
	return ftr_duration_put(p, line->elapsed_ns, layout->use_color);
}

static char *put_right(char *p, const char *text, size_t width)
{
	size_t len = text != NULL ? strnlen(text, width) : 0;

	p = put_blanks(p, width - len);
	return len > 0 ? replay_put(p, text, len) : p;
}

static char *put_task(char *p, const struct replay_layout *layout, const struct replay_line *line)
{
	return put_right(p, line->task->name, TASK_WIDTH);
}

static char *put_module(char *p, const struct replay_layout *layout,
			const struct replay_line *line)
{
	return put_right(p, line->module, MODULE_WIDTH);
}

static const struct ftr_field_name field_names[REPLAY_FIELDS + 1] = {
	[REPLAY_DURATION] = { "duration" },
	[REPLAY_TID]	  = { "tid" },
	[REPLAY_ADDR]	  = { "addr" },
	[REPLAY_TIME]	  = { "time" },
	[REPLAY_DELTA]	  = { "delta" },
	[REPLAY_ELAPSED]  = { "elapsed" },
	[REPLAY_TASK]	  = { "task" },
	[REPLAY_MODULE]	  = { "module" },
};

static const struct field {
	const char *head;	/* as wide as the column */
	field_put *put;
	size_t bytes;		/* at most */
} fields[REPLAY_FIELDS] = {
	[REPLAY_DURATION] = { " DURATION ", put_duration, FTR_DURATION_BYTES },
	[REPLAY_TID]	  = { "   TID   ", put_tid, REPLAY_TID_CHARS },
	[REPLAY_ADDR]	  = { "   ADDRESS  ", put_addr, 16 },
	[REPLAY_TIME]	  = { "     TIMESTAMP    ", put_time, 30 },
	[REPLAY_DELTA]	  = { " TIMEDELTA", put_delta, FTR_DURATION_BYTES },
	[REPLAY_ELAPSED]  = { "  ELAPSED ", put_elapsed, FTR_DURATION_BYTES },
	[REPLAY_TASK]	  = { "      TASK NAME", put_task, TASK_WIDTH },
	[REPLAY_MODULE]	  = { "     MODULE NAME", put_module, MODULE_WIDTH },
};

void replay_tid_text(char text[REPLAY_TID_CHARS], int32_t tid)
{
	text[0] = '[';
	ftr_fmt_fixed(text + 1, (uint64_t)(uint32_t)tid, REPLAY_TID_CHARS - 2, ' ');
	text[REPLAY_TID_CHARS - 1] = ']';
}

static void show_field(struct replay_layout *layout, unsigned field)
{
	layout->shown[layout->nr++] = (uint8_t)field;
	layout->width += 1 + fields[field].bytes;
}

int replay_layout_init(struct replay_layout *layout, const char *text, unsigned extra,
		       struct ftr_err *err)
{
	bool extra_is_first = extra < REPLAY_FIELDS && text == NULL;
	int ret;

	layout->mask = REPLAY_FIELDS_DEFAULT;
	if (extra < REPLAY_FIELDS)
		layout->mask |= FTR_BIT(extra);
	ret = ftr_fields_parse(field_names, text, &layout->mask, err);
	if (ret < 0)
		return ret;
	if (extra_is_first)
		show_field(layout, extra);
	for (unsigned i = 0; i < REPLAY_FIELDS; i++)
		if ((layout->mask & FTR_BIT64(i)) && !(extra_is_first && i == extra))
			show_field(layout, i);
	return 0;
}

void replay_layout_fini(struct replay_layout *layout)
{
	free(layout->scratch);
}

void replay_layout_put_header(const struct replay_layout *layout, bool has_srcline)
{
	if (layout->nr == 0)
		return;
	ftr_ostream_putc(layout->out, '#');
	for (unsigned i = 0; i < layout->nr; i++) {
		if (i > 0)
			ftr_ostream_putc(layout->out, ' ');
		ftr_ostream_puts(layout->out, fields[layout->shown[i]].head);
	}
	ftr_ostream_puts(layout->out, has_srcline ? "   FUNCTION [SOURCE]\n" : "   FUNCTION\n");
}

void replay_layout_put_blank(const struct replay_layout *layout)
{
	for (unsigned i = 0; i < layout->nr; i++)
		ftr_ostream_pad(layout->out, ' ', 1 + strlen(fields[layout->shown[i]].head));
	ftr_ostream_puts(layout->out, layout->nr > 0 ? " | \n" : "\n");
}

static char *scratch_reserve(struct replay_layout *layout, size_t bytes)
{
	if (layout->scratch_cap < bytes) {
		char *grown = realloc(layout->scratch, bytes * 2);

		if (grown == NULL)
			return NULL;
		layout->scratch = grown;
		layout->scratch_cap = bytes * 2;
	}
	layout->is_in_scratch = true;
	return layout->scratch;
}

static char *put_fields(char *p, const struct replay_layout *layout,
			const struct replay_line *line)
{
	for (unsigned i = 0; i < layout->nr; i++) {
		*p++ = ' ';
		p = fields[layout->shown[i]].put(p, layout, line);
	}
	return p;
}

char *replay_line_begin(struct replay_layout *layout, const struct replay_line *line,
			size_t indent, size_t bytes)
{
	size_t need = layout->width + 3 + indent + INDENT_STEP + bytes;
	char *p;

	if (need <= STREAM_ROOM)
		p = ftr_ostream_reserve(layout->out, need);
	else
		p = scratch_reserve(layout, need);
	if (p == NULL)
		return NULL;
	if (layout->mask == REPLAY_FIELDS_DEFAULT) {	/* without calls through the table */
		*p++ = ' ';
		p = put_duration(p, layout, line);
		*p++ = ' ';
		p = put_tid(p, layout, line);
	} else {
		p = put_fields(p, layout, line);
	}
	if (layout->nr > 0)
		p = replay_put(p, " | ", 3);
	return put_indent(p, indent);
}

void replay_line_end(struct replay_layout *layout, const char *end)
{
	if (!layout->is_in_scratch) {
		ftr_ostream_commit(layout->out,
				   (size_t)(end - (layout->out->buf + layout->out->len)));
		return;
	}
	ftr_ostream_write(layout->out, layout->scratch, (size_t)(end - layout->scratch));
	layout->is_in_scratch = false;
}
