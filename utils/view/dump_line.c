/* SPDX-License-Identifier: MIT */
/* See dump_line.h. */
#include "utils/view/dump_line.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/duration.h"
#include "utils/base/ostream.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

#define STEP_DIGITS 4
#define STEP_NS 10000u
#define ADDRESS_BYTES 26	/* with 16 digits */
#define SHORT_BYTES 40		/* so many are copied without asking for the length */
#define TYPE_BYTES 8		/* "entry] ", with the 0 */

/* All of a time but its last digits, which calls that follow each other mostly share. */
static __attribute__((noinline)) void step_make(struct dump_line *self, uint64_t time_ns)
{
	uint64_t second = time_ns / 1000000000;
	uint32_t rest = (uint32_t)(time_ns - second * 1000000000);
	char *p = self->step_text + self->step_len - (9 - STEP_DIGITS);

	if (second != self->second) {
		p = ftr_fmt_u64(self->step_text, second);
		*p++ = '.';
		self->second = second;
	}
	ftr_nanos_put(p, rest);
	self->step_len = (size_t)(p + 9 - STEP_DIGITS - self->step_text);
	self->step_ns = time_ns - rest % STEP_NS;
}

/* "2891.568304588  " */
static char *put_time(struct dump_line *self, char *p, uint64_t time_ns)
{
	if (__builtin_expect(time_ns - self->step_ns >= STEP_NS, 0))
		step_make(self, time_ns);
	memcpy(p, self->step_text, sizeof(self->step_text));
	p = ftr_digits4_put(p + self->step_len, (uint32_t)(time_ns - self->step_ns));
	*p++ = ' ';
	*p++ = ' ';
	return p;
}

char *dump_line_head(struct dump_line *self, char *p, uint64_t time_ns, int32_t tid)
{
	if (__builtin_expect(tid != self->tid, 0)) {
		ftr_fmt_fixed(self->tid_text, (uint64_t)(uint32_t)tid, DUMP_TID_WIDTH, ' ');
		memcpy(self->tid_text + DUMP_TID_WIDTH, ": [", 3);
		self->tid = tid;
	}
	p = put_time(self, p, time_ns);
	memcpy(p, self->tid_text, sizeof(self->tid_text));
	return p + DUMP_TID_WIDTH + 3;
}

/* "(5633a1d8d070) depth: "; at most ADDRESS_BYTES. */
static char *fmt_address(char *p, uint64_t addr)
{
	*p++ = '(';
	p = ftr_fmt_hex(p, addr);
	memcpy(p, ") depth: ", 9);
	return p + 9;
}

/* "0" and the end of the line. */
static char *fmt_depth(char *p, uint32_t depth)
{
	if (__builtin_expect(depth < 100, 1)) {	/* without a branch by the number of digits */
		*p = (char)('0' + depth / 10);
		p += depth >= 10;
		*p++ = (char)('0' + depth % 10);
	} else if (depth == FTR_DEPTH_UNKNOWN) {
		*p++ = '-';
	} else {
		p = ftr_fmt_u64(p, depth);
	}
	*p++ = '\n';
	return p;
}

char *dump_line_tail(char *p, uint64_t addr, uint32_t depth)
{
	return fmt_depth(fmt_address(p, addr), depth);
}

/* False: its name is too long. */
static __attribute__((noinline)) bool call_text_make(struct dump_call_text *text,
						     const struct ftr_event *ev)
{
	const struct ftr_func *func = ev->call.func;
	char *p = text->text;

	if ((size_t)func->name_len + ADDRESS_BYTES > sizeof(text->text))
		return false;
	memcpy(p, func->name, func->name_len);
	p = fmt_address(p + func->name_len, ev->call.addr);
	text->func = func;
	text->addr = ev->call.addr;
	text->len = (uint32_t)(p - text->text);
	return true;
}

static const struct dump_call_text *call_text_of(struct dump_line *self, const struct ftr_event *ev)
{
	uint64_t hash = ev->call.addr * FTR_HASH_FACTOR;
	struct dump_call_text *text = &self->calls[ftr_high_bits(hash, DUMP_CALL_TEXTS_BITS)];

	if (__builtin_expect(text->func == ev->call.func && text->addr == ev->call.addr, 1))
		return text;
	return call_text_make(text, ev) ? text : NULL;
}

char *dump_line_call(struct dump_line *self, char *p, const struct ftr_event *ev)
{
	static const char types[2][TYPE_BYTES] = {
		[FTR_EVENT_ENTRY] = "entry] ", [FTR_EVENT_EXIT] = "exit ] ",
	};
	const struct dump_call_text *text = call_text_of(self, ev);

	assert(ev->type <= FTR_EVENT_EXIT);
	if (text == NULL)
		return NULL;
	p = dump_line_head(self, p, ev->time_ns, ev->task->tid);
	memcpy(p, types[ev->type], TYPE_BYTES);
	p += TYPE_BYTES - 1;
	memcpy(p, text->text, SHORT_BYTES);
	if (__builtin_expect(text->len > SHORT_BYTES, 0))
		memcpy(p + SHORT_BYTES, text->text + SHORT_BYTES,
		       sizeof(text->text) - SHORT_BYTES);
	return fmt_depth(p + text->len, ev->depth);
}
