/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: typed arguments.
 *
 * The type carries what the layout of the payload says; what a type cannot carry stands behind the
 * name in the notation of argument specs: arg1/c, retval/p, arg2/e:color (doc/fxt.md, "Arguments").
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "utils/format/fxt/write.h"
#include "utils/trace/args.h"
#include "utils/trace/shape.h"
#include "utils/trace/trace.h"

/* Values of FTR_ARG_AUTO that are shown alike whether they have 4 bytes or 8. */
#define AUTO_MIN (-0xffff)
#define AUTO_MAX 100000

void fxt_args_clear(struct fxt_writer *w)
{
	w->args.nr_words = 0;
	w->args.part_nr = 0;
}

/* Room for an argument of @words, in a new part where the last one is full; NULL = none. */
static uint64_t *arg_put(struct fxt_writer *w, uint32_t words)
{
	struct fxt_args *args = &w->args;
	uint32_t last = args->part_nr - 1;
	uint64_t *p = args->words + args->nr_words;

	if (words > FXT_PART_WORDS || args->nr_words + words > sizeof(args->words) / sizeof(*p))
		return NULL;
	if (args->part_nr == 0 || args->parts[last].nr == FXT_ARGS_MAX ||
	    args->parts[last].words + words > FXT_PART_WORDS) {
		if (args->part_nr == FXT_PARTS_MAX)
			return NULL;
		last = args->part_nr++;
		args->parts[last].start = args->nr_words;
		args->parts[last].words = 0;
		args->parts[last].nr = 0;
	}
	args->parts[last].nr++;
	args->parts[last].words += words;
	args->nr_words += words;
	return p;
}

/* An argument with its header; @upper is the header's upper half. */
static int arg_begin(struct fxt_writer *w, const char *name, enum fxt_arg type, uint32_t words,
		     uint64_t upper, uint64_t **value)
{
	uint32_t name_id;
	uint64_t *p;

	if (fxt_string_id(w, name, strlen(name), &name_id) < 0)
		return -ENOMEM;
	p = arg_put(w, words);
	*value = p == NULL ? NULL : p + 1;
	if (p == NULL)
		w->arg_cut_nr++;
	else
		*p = fxt_arg_type_bits(type) | fxt_arg_words_bits(words) |
		     fxt_arg_name_ref_bits(fxt_string_ref(w, name_id)) | fxt_arg_value_bits(upper);
	return 0;
}

int fxt_arg_null(struct fxt_writer *w, const char *name)
{
	uint64_t *value;

	return arg_begin(w, name, FXT_ARG_NULL, 1, 0, &value);
}

int fxt_arg_bool(struct fxt_writer *w, const char *name, bool truth)
{
	uint64_t *value;

	return arg_begin(w, name, FXT_ARG_BOOL, 1, truth, &value);
}

int fxt_arg_word(struct fxt_writer *w, const char *name, enum fxt_arg type, uint64_t word)
{
	uint64_t *value;
	int ret = arg_begin(w, name, type, 2, 0, &value);

	if (value != NULL)
		*value = word;
	return ret;
}

int fxt_arg_i64(struct fxt_writer *w, const char *name, int64_t number)
{
	uint64_t *value;

	if (number < INT32_MIN || number > INT32_MAX)
		return fxt_arg_word(w, name, FXT_ARG_INT64, (uint64_t)number);
	return arg_begin(w, name, FXT_ARG_INT32, 1, (uint32_t)number, &value);
}

int fxt_arg_u64(struct fxt_writer *w, const char *name, uint64_t number)
{
	uint64_t *value;

	if (number > UINT32_MAX)
		return fxt_arg_word(w, name, FXT_ARG_UINT64, number);
	return arg_begin(w, name, FXT_ARG_UINT32, 1, number, &value);
}

int fxt_arg_ref(struct fxt_writer *w, const char *name, uint32_t string_id)
{
	uint64_t *value;
	uint16_t ref = fxt_string_ref(w, string_id);

	return arg_begin(w, name, FXT_ARG_STRING, 1, ref, &value);
}

int fxt_arg_string(struct fxt_writer *w, const char *name, const char *s, size_t len)
{
	uint64_t *value;
	uint32_t bytes;
	int ret;

	s = fxt_text_clean(w, s, len, FXT_TEXT_MAX, &bytes);
	ret = arg_begin(w, name, FXT_ARG_STRING, 1 + fxt_text_words(bytes),
			bytes == 0 ? 0 : FXT_REF_INLINE | bytes, &value);
	if (value != NULL)
		fxt_put_text(value, s, bytes);
	return ret;
}

int fxt_arg_blob(struct fxt_writer *w, const char *name, const void *data, size_t len)
{
	uint32_t bytes = len > FXT_TEXT_MAX ? FXT_TEXT_MAX : (uint32_t)len;
	uint64_t *value;
	int ret = arg_begin(w, name, FXT_ARG_BLOB, 1 + fxt_text_words(bytes), bytes, &value);

	if (bytes < len)
		w->text_cut_nr++;
	if (value != NULL)
		fxt_put_text(value, data, bytes);
	return ret;
}

/* Bytes as hexadecimal digits: the first versions of the format know no blobs as arguments. */
static int arg_hex(struct fxt_writer *w, const char *name, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	struct ftr_strbuf text;
	int ret;

	if (len > FXT_TEXT_MAX / 2) {
		len = FXT_TEXT_MAX / 2;
		w->text_cut_nr++;
	}
	ftr_strbuf_init(&text);
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = ((const uint8_t *)data)[i];

		ftr_strbuf_putc(&text, digits[byte / 16]);
		ftr_strbuf_putc(&text, digits[byte % 16]);
	}
	ret = text.failed ? fxt_no_memory(w) :
			    fxt_arg_string(w, name, ftr_strbuf_str(&text), text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

/* What follows the name of an argument: only what its type does not imply. */
static void spec_suffix(const struct ftr_arg *arg, const char *type_name, char *p, size_t room)
{
	switch (arg->format) {
	case FTR_ARG_SIGNED:
		snprintf(p, room, "/i");
		break;
	case FTR_ARG_OCTAL:
		snprintf(p, room, "/o");
		break;
	case FTR_ARG_CHAR:
		snprintf(p, room, "/c");
		break;
	case FTR_ARG_POINTER:
		snprintf(p, room, "/p");
		break;
	case FTR_ARG_STRING:
		snprintf(p, room, arg->type_name == NULL ? "" : "/S");
		break;
	case FTR_ARG_ENUM:
		snprintf(p, room, "/e:%s", type_name == NULL ? "" : type_name);
		break;
	case FTR_ARG_STRUCT:
		snprintf(p, room, "/t%u:%s", arg->size, type_name == NULL ? "" : type_name);
		break;
	default:
		*p = '\0';
		break;
	}
}

/* Our reader would take such a value for a remark of ftr on the event. */
static bool name_is_taken(const char *name)
{
	static const char *const ours[] = { FXT_KEY_LOC, FXT_KEY_SYMBOL, FXT_KEY_INFERRED,
					    FXT_KEY_NO_ENTRY, FXT_KEY_TRACEPOINT, FXT_KEY_HEX };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (strcmp(name, ours[i]) == 0)
			return true;
	}
	return name[0] == FXT_VALUE_PREFIX[0];
}

static const char *arg_name(const struct ftr_arg *arg, const char *type_name, bool is_retval,
			    char *text, size_t room)
{
	int len;

	if (arg->name != NULL)
		return arg->name;
	if (is_retval)
		len = snprintf(text, room, "retval");
	else
		len = snprintf(text, room, arg->is_float_reg ? "fparg%u" : "arg%u", arg->index);
	spec_suffix(arg, type_name, text + len, room - (size_t)len);
	return text;
}

/* A pointer where it can only be one; else a number, of 64 bits where its width shows. */
static int arg_auto(struct fxt_writer *w, const char *name, uint64_t value)
{
	bool is_negative_32 = value <= UINT32_MAX && (int32_t)value < 0;
	int64_t number = is_negative_32 ? (int32_t)value : (int64_t)value;

	if (number >= AUTO_MIN && number <= AUTO_MAX)
		return fxt_arg_i64(w, name, number);
	if (number > UINT32_MAX)
		return fxt_arg_word(w, name, FXT_ARG_POINTER, value);
	return fxt_arg_word(w, name, FXT_ARG_INT64, value);
}

static int arg_double(struct fxt_writer *w, const char *name, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return fxt_arg_word(w, name, FXT_ARG_DOUBLE, bits);
}

static int type_write(struct fxt_writer *w, const struct ftr_type_name *type)
{
	const struct ftr_arg_enum *values = type->values;
	struct ftr_strbuf text;
	int ret = 0;

	if (type->words[0] == '\0')
		return 0;
	ftr_strbuf_init(&text);
	for (uint32_t i = 0; values != NULL && i < values->nr; i++)
		ftr_strbuf_printf(&text, "%s %lld %s\n", type->name,
				  (long long)values->values[i].value, values->values[i].name);
	if (values == NULL)
		ftr_strbuf_printf(&text, "%s %s\n", type->name, type->words);
	if (text.failed)
		ret = fxt_no_memory(w);
	else
		fxt_write_blob(w, values != NULL ? FXT_BLOB_ENUMS : FXT_BLOB_SHAPES, text.s,
			       text.len);
	ftr_strbuf_fini(&text);
	return ret;
}

/*
 * The names of an enum's values, and the shapes of structs, go into the file before the first
 * argument of this type.
 */
static int type_describe(struct fxt_writer *w, const struct ftr_arg *arg, const char **name)
{
	int ret = ftr_type_names_get(&w->types, arg, name);

	if (ret < 0)
		return fxt_no_memory(w);
	while (ret == 0 && w->type_nr < w->types.all.nr)
		ret = type_write(w, w->types.all.v[w->type_nr++]);
	return ret;
}

static int arg_enum(struct fxt_writer *w, const char *name, const struct ftr_value *value)
{
	const struct ftr_arg_enum *values = value->arg->values;
	int32_t number = (int32_t)value->u;

	for (uint32_t i = 0; values != NULL && i < values->nr; i++) {
		if (values->values[i].value == number)
			return fxt_arg_string(w, name, values->values[i].name,
					      strlen(values->values[i].name));
	}
	return fxt_arg_i64(w, name, number);
}

/*
 * A pointer to a function: an object of this name is written before the first use of the pointer.
 */
static int pointer_describe(struct fxt_writer *w, const struct ftr_event *ev, uint64_t value)
{
	struct ftr_session *session = ftr_task_session_at(ev->task, ev->time_ns);
	uint64_t key = ftr_hash_u64((uint32_t)ev->task->pid) ^ value;
	const struct ftr_func *func;
	uint32_t name_id;
	uint64_t offset;

	if (value == 0 || session == NULL || ftr_hashmap_find(&w->objects, key) != NULL)
		return 0;
	func = ftr_trace_find((struct ftr_trace *)w->trace, session, UINT64_MAX, value, &offset);
	if (func != NULL) {
		struct ftr_strbuf text;
		int ret;

		ftr_strbuf_init(&text);
		ftr_strbuf_puts(&text, func->name);
		if (offset > 0)
			ftr_strbuf_printf(&text, "+%#llx", (unsigned long long)offset);
		ret = fxt_func_describe(w, func);
		if (ret == 0)
			ret = fxt_string_id(w, ftr_strbuf_str(&text), text.len, &name_id);
		if (ret == 0)
			ret = fxt_write_object(w, ev->task, value, name_id, false);
		ftr_strbuf_fini(&text);
		if (ret < 0 || ftr_hashmap_set(&w->objects, key, w) < 0)
			return fxt_no_memory(w);
	}
	return 0;
}

static int arg_pointer(struct fxt_writer *w, const struct ftr_event *ev, const char *name,
		       uint64_t value)
{
	int ret = pointer_describe(w, ev, value);

	return ret < 0 ? ret : fxt_arg_word(w, name, FXT_ARG_POINTER, value);
}

struct pointing {
	struct fxt_writer *w;
	const struct ftr_event *ev;
};

static int member_describe(void *arg, size_t at, uint64_t pointer)
{
	const struct pointing *self = arg;

	(void)at;
	return pointer_describe(self->w, self->ev, pointer);
}

/* Its bytes; what they mean stands in the file already, but for the functions they point to. */
static int arg_struct(struct fxt_writer *w, const struct ftr_event *ev, const char *name,
		      const struct ftr_value *value)
{
	struct pointing pointing = { .w = w, .ev = ev };
	int ret = 0;

	if (value->arg->name != NULL)
		return fxt_arg_blob(w, name, value->str.s, value->str.len);	/* as it was read */
	if (value->arg->shape != NULL)
		ret = ftr_shape_pointers(value->arg->shape, (const uint8_t *)value->str.s,
					 value->str.len, member_describe, &pointing);
	return ret < 0 ? ret : arg_hex(w, name, value->str.s, value->str.len);
}

/* What is no string of the program: flags, a list.  Of the table, by which our reader knows it. */
static int arg_word_text(struct fxt_writer *w, const char *name, const struct ftr_value *value)
{
	uint32_t id;

	if (fxt_string_id(w, value->str.s, value->str.len, &id) < 0)
		return -ENOMEM;
	return id == FXT_ID_NONE ? fxt_arg_string(w, name, "", 0) : fxt_arg_ref(w, name, id);
}

static int arg_value(struct fxt_writer *w, const struct ftr_event *ev, const char *name,
		     const struct ftr_value *value)
{
	switch (value->arg->format) {
	case FTR_ARG_AUTO:
		return arg_auto(w, name, value->u);
	case FTR_ARG_SIGNED:
	case FTR_ARG_CHAR:
		return fxt_arg_i64(w, name, value->i);
	case FTR_ARG_UNSIGNED:
	case FTR_ARG_OCTAL:
		return fxt_arg_u64(w, name, value->u);
	case FTR_ARG_POINTER:
		return arg_pointer(w, ev, name, value->u);
	case FTR_ARG_HEX:
		return fxt_arg_word(w, name, FXT_ARG_POINTER, value->u);
	case FTR_ARG_KOID:
		return fxt_arg_word(w, name, FXT_ARG_KOID, value->u);
	case FTR_ARG_STRING:
		return fxt_arg_string(w, name, value->str.s, value->str.len);
	case FTR_ARG_WORD:
		return arg_word_text(w, name, value);
	case FTR_ARG_STRUCT:
		return arg_struct(w, ev, name, value);
	case FTR_ARG_FLOAT:
		return arg_double(w, name, (double)value->f);
	case FTR_ARG_ENUM:
		return arg_enum(w, name, value);
	case FTR_ARG_BOOL:
		return fxt_arg_bool(w, name, value->u & 1);
	case FTR_ARG_NULL:
		return fxt_arg_null(w, name);
	}
	return 0;
}

static int named_value(struct fxt_writer *w, const struct ftr_event *ev, const char *name,
		       const struct ftr_value *value)
{
	struct ftr_strbuf text;
	int ret;

	if (!name_is_taken(name))
		return arg_value(w, ev, name, value);
	ftr_strbuf_init(&text);
	ftr_strbuf_puts(&text, FXT_VALUE_PREFIX);
	ftr_strbuf_puts(&text, name);
	ret = text.failed ? fxt_no_memory(w) : arg_value(w, ev, text.s, value);
	ftr_strbuf_fini(&text);
	return ret;
}

int fxt_write_instance(struct fxt_writer *w, const struct ftr_event *ev, uint32_t class_id)
{
	struct ftr_value value;
	unsigned nr = 0, pos = 0;
	uint64_t key;

	if (ev->payload->spec == NULL || !ftr_payload_next(ev->payload, &nr, &pos, &value) ||
	    value.arg->index != 1 || value.arg->is_float_reg || value.arg->size != 8 ||
	    value.u == 0 ||
	    (value.arg->format != FTR_ARG_POINTER && value.arg->format != FTR_ARG_HEX &&
	     value.arg->format != FTR_ARG_AUTO))
		return 0;
	key = ftr_hash_u64((uint32_t)ev->task->pid) ^ value.u;
	if ((uintptr_t)ftr_hashmap_find(&w->instances, key) == class_id + (uintptr_t)1)
		return 0;
	if (ftr_hashmap_set(&w->instances, key, (void *)(class_id + (uintptr_t)1)) < 0)
		return fxt_no_memory(w);
	return fxt_write_object(w, ev->task, value.u, class_id, true);
}

int fxt_args_payload(struct fxt_writer *w, const struct ftr_event *ev)
{
	const struct ftr_payload *payload = ev->payload;
	struct ftr_value value;
	unsigned nr = 0, pos = 0;
	int ret = 0;

	if (payload->spec == NULL)
		return payload->len == 0 ?
			       0 :
			       arg_hex(w, FXT_KEY_HEX, payload->data, payload->len);
	while (ret == 0 && ftr_payload_next(payload, &nr, &pos, &value)) {
		bool is_retval = ev->type == FTR_EVENT_EXIT;
		const char *type_name;
		char text[128];

		ret = type_describe(w, value.arg, &type_name);
		if (ret == 0)
			ret = named_value(w, ev, arg_name(value.arg, type_name, is_retval, text,
							  sizeof(text)), &value);
	}
	return ret;
}
