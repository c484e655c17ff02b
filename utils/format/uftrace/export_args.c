/* SPDX-License-Identifier: MIT */
/*
 * Any trace as a uftrace directory: payloads.
 *
 * The directory describes the arguments of a function once, a trace perhaps anew at each call.  So
 * numbers are written in 8 bytes, which every letter of a spec reads, and which letter shows all of
 * them as they were is found out on the way and written down at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/format/uftrace/export.h"
#include "utils/trace/shape.h"

#define LETTER(c) FTR_BIT((c) - 'a')
#define AUTO_MAX 100000			/* greater numbers look like pointers to letter d */

/*
 * How a format is written: its letter, and the bytes of its value; 0 = a string, or as its size
 * says.
 */
static const struct {
	char letter;
	uint8_t size;
} rows[] = {
	[FTR_ARG_AUTO]	   = { 'd', 8 },
	[FTR_ARG_SIGNED]   = { 'i', 8 },
	[FTR_ARG_UNSIGNED] = { 'u', 8 },
	[FTR_ARG_HEX]	   = { 'x', 8 },
	[FTR_ARG_OCTAL]	   = { 'o', 8 },
	[FTR_ARG_STRING]   = { 's', 0 },
	[FTR_ARG_WORD]	   = { 's', 0 },
	[FTR_ARG_CHAR]	   = { 'c', 1 },
	[FTR_ARG_FLOAT]	   = { 'f', 8 },
	[FTR_ARG_POINTER]  = { 'p', 8 },
	[FTR_ARG_ENUM]	   = { 'e', 8 },
	[FTR_ARG_STRUCT]   = { 't', 0 },
	[FTR_ARG_BOOL]	   = { 'i', 8 },
	[FTR_ARG_KOID]	   = { 'u', 8 },
	[FTR_ARG_NULL]	   = { 'i', 8 },
};

/* Words become strings: a letter for text without quotes does not exist. */
static bool is_text(enum ftr_arg_format format)
{
	return format == FTR_ARG_STRING || format == FTR_ARG_WORD;
}

/* The letters that show this value as its own format does. */
static unsigned value_letters(const struct ftr_value *value)
{
	enum ftr_arg_format format = value->arg->format;
	bool looks_like_pointer = value->u > AUTO_MAX && value->u <= INT64_MAX &&
				  (value->u > UINT32_MAX || (int32_t)value->u > 0);

	if ((format == FTR_ARG_AUTO || format == FTR_ARG_HEX) && looks_like_pointer)
		return LETTER('d') | LETTER('x');
	return LETTER(rows[format].letter);
}

static bool arg_fits(const struct ufx_arg *known, const struct ftr_value *value, uint16_t size)
{
	bool is_string = is_text(value->arg->format);

	if (known->arg.index != value->arg->index ||
	    known->arg.is_float_reg != value->arg->is_float_reg || known->arg.size != size ||
	    is_text(known->arg.format) != is_string ||
	    (known->arg.format == FTR_ARG_STRUCT) != (value->arg->format == FTR_ARG_STRUCT))
		return false;
	if (known->arg.shape != value->arg->shape)
		return false;
	return is_string ? (known->arg.type_name == NULL) == (value->arg->type_name == NULL) :
	       (known->letters & value_letters(value)) != 0;
}

static uint16_t value_size(const struct ftr_value *value)
{
	return value->arg->format == FTR_ARG_STRUCT ? value->arg->size :
						      rows[value->arg->format].size;
}

static uint64_t value_word(struct ufx *x, const struct ftr_event *ev, const struct ftr_value *value)
{
	double real = (double)value->f;
	uint64_t word;

	switch (value->arg->format) {
	case FTR_ARG_FLOAT:
		memcpy(&word, &real, sizeof(word));
		return word;
	case FTR_ARG_POINTER:
		return ufx_address(x, ev, value->u);
	case FTR_ARG_BOOL:
		return value->u & 1;
	case FTR_ARG_NULL:
		return 0;
	default:
		return value->u;
	}
}

struct moving {
	struct ufx *x;
	const struct ftr_event *ev;
	uint8_t *bytes;
};

static int move_pointer(void *arg, size_t at, uint64_t pointer)
{
	struct moving *self = arg;

	ftr_put_u64(self->bytes + at, ufx_address(self->x, self->ev, pointer), false);
	return 0;
}

/* Functions that the value of a struct, whose bytes are at @p, points to lie elsewhere, too. */
static void move_pointers(struct ufx *x, const struct ftr_event *ev, const struct ftr_value *value,
			  uint8_t *p)
{
	struct moving moving = { .x = x, .ev = ev, .bytes = p };

	if (value->arg->shape != NULL)
		ftr_shape_pointers(value->arg->shape, (const uint8_t *)value->str.s,
				   value->str.len, move_pointer, &moving);
}

/* Append a value: how many bytes; -ENOSPC when there is no room. */
static int put_value(struct ufx *x, const struct ftr_event *ev, const struct ftr_value *value,
			  uint8_t *p, unsigned room)
{
	uint16_t size = value_size(value);
	unsigned bytes = (unsigned)size;
	uint64_t word;

	if (is_text(value->arg->format)) {
		uint16_t len = value->str.len;

		bytes = 2u + len;
		if ((bytes + 3) / 4 * 4 > room)
			return -ENOSPC;
		memcpy(p, &len, sizeof(len));
		memcpy(p + 2, value->str.s, len);
	} else if ((bytes + 3) / 4 * 4 > room) {
		return -ENOSPC;
	} else if (value->arg->format == FTR_ARG_STRUCT) {
		memcpy(p, value->str.s, bytes);
		move_pointers(x, ev, value, p);
	} else {
		word = value_word(x, ev, value);
		memcpy(p, &word, bytes);
	}
	memset(p + bytes, 0, (bytes + 3) / 4 * 4 - bytes);
	return (int)((bytes + 3) / 4 * 4);
}

/* The files of all modules describe all types: each needs a name of its own. */
static int type_take(struct ufx *x, struct ftr_arg *arg)
{
	const char *name;
	int ret;

	if (arg->format != FTR_ARG_ENUM && arg->format != FTR_ARG_STRUCT)
		return 0;
	ret = ftr_type_names_get(&x->types, arg, &name);
	arg->type_name = name;
	return ret;
}

static struct ufx_layout *layout_new(struct ufx *x, const struct ftr_payload *payload)
{
	struct ufx_layout *layout = calloc(1, sizeof(*layout) +
						      UFX_ARGS_MAX * sizeof(layout->args[0]));
	unsigned nr = 0, pos = 0;
	struct ftr_value value;

	if (layout == NULL)
		return NULL;
	while (layout->nr < UFX_ARGS_MAX && ftr_payload_next(payload, &nr, &pos, &value)) {
		struct ufx_arg *arg = &layout->args[layout->nr++];

		arg->arg = *value.arg;
		arg->arg.size = value_size(&value);
		arg->letters = value_letters(&value);
		if (type_take(x, &arg->arg) < 0) {
			free(layout);
			return NULL;
		}
	}
	return layout;
}

/* Does the payload suit the layout? */
static bool layout_fits(const struct ufx_layout *layout, const struct ftr_payload *payload)
{
	unsigned fits = 0, nr = 0, pos = 0;
	struct ftr_value value;

	while (fits < layout->nr && ftr_payload_next(payload, &nr, &pos, &value)) {
		if (!arg_fits(&layout->args[fits++], &value, value_size(&value)))
			return false;
	}
	return fits == layout->nr && nr == payload->spec->nr;
}

/* The layout's letters become those that also suit the payload. */
static void layout_take(struct ufx_layout *layout, const struct ftr_payload *payload)
{
	unsigned nr = 0, pos = 0;
	struct ftr_value value;

	for (unsigned i = 0; ftr_payload_next(payload, &nr, &pos, &value); i++)
		layout->args[i].letters &= value_letters(&value);
}

static bool payload_has_args(const struct ftr_payload *payload)
{
	return payload != NULL && payload->spec != NULL && payload->spec->nr > 0;
}

int64_t ufx_func_of_entry(struct ufx *x, const struct ftr_event *ev)
{
	int64_t first = ufx_placed_get(x, ev, ev->call.func);
	uint32_t variants = 0;

	if (first >= 0 && (!payload_has_args(ev->payload) || x->funcs.v[first].layouts[0] == NULL ||
			   layout_fits(x->funcs.v[first].layouts[0], ev->payload)))
		return first;
	if (first == -ENOMEM)
		return -1;
	first = ufx_func_get(x, ev->call.func, UFX_STEP);
	if (first < 0 || !payload_has_args(ev->payload))
		return first;
	for (int64_t i = first; i >= 0; i = (int64_t)x->funcs.v[i].next - 1) {
		const struct ufx_layout *layout = x->funcs.v[i].layouts[0];

		if (layout == NULL || layout_fits(layout, ev->payload))
			return i;
		if (++variants == UFX_VARIANTS_MAX)
			return first;
	}
	return ufx_func_add(x, ev->call.func, UFX_STEP);
}

uint64_t ufx_address(struct ufx *x, const struct ftr_event *ev, uint64_t addr)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	const struct ftr_func *func, *same;
	uint64_t offset;
	int64_t known;

	if (addr == 0 || session == NULL)
		return addr;
	func = ftr_trace_find((struct ftr_trace *)x->trace, session, UINT64_MAX, addr, &offset);
	if (func == NULL)
		return addr;
	same = ftr_hashmap_find(&x->by_name, func->name_id);
	known = ufx_placed_get(x, ev, same != NULL ? same : func);
	if (known >= 0)
		return ufx_func_base(x, (uint32_t)known, session) + x->funcs.v[known].addr + offset;
	known = ufx_func_get(x, same != NULL ? same : func, offset + 1);
	if (known < 0)
		return addr;
	if (offset >= x->funcs.v[known].bytes) { /* deeper in than it is long: another symbol */
		known = ufx_func_add(x, func, offset + 1);
		if (known < 0 || offset >= x->funcs.v[known].bytes)
			return addr;
	}
	return x->funcs.v[known].addr + offset;
}

int ufx_payload(struct ufx *x, const struct ftr_event *ev, uint32_t func, uint8_t *bytes)
{
	bool is_retval = ev->type == FTR_EVENT_EXIT;
	struct ufx_layout **layout = &x->funcs.v[func].layouts[is_retval];
	unsigned nr = 0, pos = 0, len = 0;
	struct ftr_value value;

	if (!payload_has_args(ev->payload))
		return -ENOENT;
	if (*layout == NULL) {
		*layout = layout_new(x, ev->payload);
		if (*layout == NULL)
			return ufx_no_memory(x);
	}
	if (!layout_fits(*layout, ev->payload)) {
		x->layout_cut_nr++;
		return -ENOENT;
	}
	layout_take(*layout, ev->payload);
	while (ftr_payload_next(ev->payload, &nr, &pos, &value)) {
		int part = put_value(x, ev, &value, bytes + len, UFX_PAYLOAD_MAX - len);

		if (part < 0) {
			x->layout_cut_nr++;
			return -ENOENT;
		}
		x->name_cut_nr += value.arg->name != NULL;
		len += (unsigned)part;
	}
	for (; len % 8 != 0; len++)
		bytes[len] = 0;
	x->has_args |= !is_retval;
	x->has_retval |= is_retval;
	return (int)len;
}

static char arg_letter(const struct ufx_arg *arg)
{
	if (arg->arg.format == FTR_ARG_STRING && arg->arg.type_name != NULL)
		return 'S';
	if (arg->letters & LETTER('d'))
		return 'd';
	return (char)('a' + __builtin_ctz(arg->letters | FTR_BIT(31)));
}

void ufx_layout_text(const struct ufx_layout *layout, bool is_retval, struct ftr_strbuf *text)
{
	for (unsigned i = 0; i < layout->nr; i++) {
		const struct ufx_arg *arg = &layout->args[i];
		char letter = arg_letter(arg);

		if (i > 0)
			ftr_strbuf_putc(text, ',');
		if (is_retval)
			ftr_strbuf_puts(text, "retval");
		else
			ftr_strbuf_printf(text, arg->arg.is_float_reg ? "fparg%u" : "arg%u",
					  arg->arg.index != 0 ? arg->arg.index : i + 1);
		if (arg->arg.is_float_reg)
			ftr_strbuf_puts(text, "/64");
		else if (letter == 'f')
			ftr_strbuf_puts(text, "/f64");
		else if (letter == 't')
			ftr_strbuf_printf(text, "/t%u", arg->arg.size);
		else
			ftr_strbuf_printf(text, "/%c", letter);
		if ((letter == 't' || letter == 'e') && arg->arg.type_name != NULL)
			ftr_strbuf_printf(text, ":%s", arg->arg.type_name);
	}
}
