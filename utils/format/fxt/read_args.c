/* SPDX-License-Identifier: MIT */
/*
 * FXT reader: typed arguments become a payload and its layout, as the uftrace reader makes them.
 *
 * Names in the notation of argument specs (arg1/c) say what the type does not; see
 * fxt/write_args.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/text.h"
#include "utils/format/fxt/read.h"

#define ARGS_MAX 320		/* of one event and its continuations */

struct args {
	struct fxt_reader *r;
	struct fxt_args_out *out;
	uint32_t len;		/* bytes used in out->bytes */
	unsigned nr;
	struct ftr_arg args[ARGS_MAX];
};

/* One argument of the file. */
struct arg_in {
	const struct fxt_text *key;
	const struct fxt_arg_name *name;
	enum fxt_arg type;
	uint64_t number;	/* numbers, bool, koid, the bits of a double */
	const char *bytes;	/* strings, blobs */
	uint32_t len;
	bool is_ours;		/* in a file that ftr wrote */
	bool is_value;		/* of the program for sure, whatever its name */
	bool is_word;		/* a text that is no string of the program */
};

/* What a type means: in a name of ours, and in anybody else's. */
static const struct {
	uint8_t own, other;	/* enum ftr_arg_format */
	uint8_t size;		/* 0 = as long as its bytes */
} types[] = {
	[FXT_ARG_NULL]	  = { FTR_ARG_NULL,	FTR_ARG_NULL,	  4 },
	[FXT_ARG_INT32]	  = { FTR_ARG_AUTO,	FTR_ARG_SIGNED,	  4 },
	[FXT_ARG_UINT32]  = { FTR_ARG_UNSIGNED,	FTR_ARG_UNSIGNED, 4 },
	[FXT_ARG_INT64]	  = { FTR_ARG_AUTO,	FTR_ARG_SIGNED,	  8 },
	[FXT_ARG_UINT64]  = { FTR_ARG_UNSIGNED,	FTR_ARG_UNSIGNED, 8 },
	[FXT_ARG_DOUBLE]  = { FTR_ARG_FLOAT,	FTR_ARG_FLOAT,	  8 },
	[FXT_ARG_STRING]  = { FTR_ARG_STRING,	FTR_ARG_STRING,	  0 },
	[FXT_ARG_POINTER] = { FTR_ARG_HEX,	FTR_ARG_POINTER,  8 },
	[FXT_ARG_KOID]	  = { FTR_ARG_KOID,	FTR_ARG_KOID,	  8 },
	[FXT_ARG_BOOL]	  = { FTR_ARG_BOOL,	FTR_ARG_BOOL,	  4 },
	[FXT_ARG_BLOB]	  = { FTR_ARG_STRUCT,	FTR_ARG_STRUCT,	  0 },
};

#define TYPE(x) FTR_BIT(FXT_ARG_##x)

/* What a letter behind a name makes of which types. */
static const struct {
	char letter;
	unsigned types;
	enum ftr_arg_format format;
} letters[] = {
	{ 'i', TYPE(INT32) | TYPE(INT64),	FTR_ARG_SIGNED },
	{ 'c', TYPE(INT32) | TYPE(INT64),	FTR_ARG_CHAR },
	{ 'o', TYPE(UINT32) | TYPE(UINT64),	FTR_ARG_OCTAL },
	{ 'p', TYPE(POINTER),			FTR_ARG_POINTER },
	{ 'e', TYPE(INT32) | TYPE(STRING),	FTR_ARG_ENUM },
	{ 'S', TYPE(STRING),			FTR_ARG_STRING },
	{ 't', TYPE(BLOB) | TYPE(STRING),	FTR_ARG_STRUCT },
};

/* arg3, fparg1, retval, and what follows: "/c", "/e:color", "/t16:point". */
static bool name_parse(struct ftr_trace *trace, struct ftr_slice text, struct fxt_arg_name *name)
{
	struct ftr_slice head, rest = text;
	uint64_t number = 0;

	if (memchr(text.s, '\0', text.len) != NULL || !ftr_slice_split(&rest, '/', &head))
		return false;
	name->is_float_reg = ftr_slice_starts(head, "fparg");
	if (!ftr_slice_eq(head, "retval")) {
		size_t skip = name->is_float_reg ? 5 : 3;

		if ((!name->is_float_reg && !ftr_slice_starts(head, "arg")) ||
		    ftr_parse_u64(ftr_slice_make(head.s + skip, head.len - skip), 10, &number) <
			    0 ||
		    number == 0 || number > UINT8_MAX)
			return false;
	}
	name->index = (uint8_t)number;
	if (head.len == text.len)
		return true;
	if (rest.len == 0)
		return false;
	name->letter = rest.s[0];
	rest = ftr_slice_make(rest.s + 1, rest.len - 1);
	if (rest.len == 0)
		return true;
	if (!ftr_slice_split(&rest, ':', &head) ||
	    (head.len > 0 && (ftr_parse_u64(head, 10, &number) < 0 || number > UINT16_MAX)))
		return false;
	name->size = head.len > 0 ? (uint16_t)number : 0;
	name->type_name = rest.len == 0 ? NULL : ftr_arena_strndup(&trace->arena, rest.s, rest.len);
	return true;
}

static const struct fxt_arg_name *name_get(struct fxt_reader *r, struct fxt_text *text)
{
	struct fxt_arg_name *name = text->arg;

	if (name != NULL)
		return name;
	name = ftr_arena_alloc(&r->trace->arena, sizeof(*name));
	if (name == NULL) {
		r->is_failed = true;
		return NULL;
	}
	if (!name_parse(r->trace, ftr_slice_make(text->str->s, text->str->len), name))
		*name = (struct fxt_arg_name){ .name = text->str->s };
	text->arg = name;
	return name;
}

/* The name that the program gave its value: ftr puts something before those it uses itself. */
static struct fxt_text *key_of_value(struct fxt_reader *r, struct fxt_text *key, struct arg_in *arg)
{
	const struct ftr_str *str = key->str;
	size_t skip = strlen(FXT_VALUE_PREFIX);

	if (str->len <= skip || memcmp(str->s, FXT_VALUE_PREFIX, skip) != 0)
		return key;
	arg->is_value = true;
	return fxt_text_get(r, str->s + skip, str->len - skip);
}

/* The argument at @pos, which ends at @end; its record began at @at. */
static bool arg_parse(struct fxt_reader *r, struct fxt_provider *provider, uint64_t at,
		      uint64_t pos, uint64_t end, struct arg_in *arg)
{
	uint64_t header = fxt_word(r, pos);
	struct ftr_slice value = { 0 };
	struct fxt_text *text;
	unsigned ref;

	pos += 8;
	*arg = (struct arg_in){ .type = (enum fxt_arg)fxt_arg_type(header),
				.is_ours = provider->is_ours };
	text = fxt_string_at(r, provider, fxt_arg_name_ref(header), at, &pos, end);
	if (text != NULL && provider->is_ours)
		text = key_of_value(r, text, arg);
	if (text == NULL)
		return false;
	arg->key = text;
	arg->name = name_get(r, text);
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_UINT32:
	case FXT_ARG_BOOL:
		arg->number = fxt_arg_value(header);
		return arg->name != NULL;
	case FXT_ARG_INT32:
		arg->number = (uint64_t)(int64_t)(int32_t)fxt_arg_value(header);
		return arg->name != NULL;
	case FXT_ARG_STRING:
		ref = (unsigned)fxt_arg_string_ref(header);
		text = ref & FXT_REF_INLINE ? NULL : fxt_string_at(r, provider, ref, at, &pos, end);
		/*
		 * Values in the records themselves stay there: there may be as many of them as
		 * events.
		 */
		if (text != NULL)
			value = ftr_slice_make(text->str->s, text->str->len);
		else if (!(ref & FXT_REF_INLINE) || !fxt_inline_at(r, ref, &pos, end, &value))
			return false;
		arg->bytes = value.s;
		arg->len = (uint32_t)value.len;
		arg->is_word = provider->is_ours && arg->len > 0 && !(ref & FXT_REF_INLINE);
		return arg->name != NULL;
	case FXT_ARG_BLOB:
		arg->bytes = (const char *)r->in.data + pos;
		arg->len = (uint32_t)fxt_arg_value(header);
		return arg->len <= end - pos && arg->name != NULL;
	default:
		if (end - pos < 8 || arg->type > FXT_ARG_BLOB)
			return false;
		arg->number = fxt_word(r, pos);
		return arg->name != NULL;
	}
}

static bool enum_value(const struct ftr_arg_enum *values, const struct arg_in *in, int64_t *value)
{
	for (uint32_t i = 0; i < values->nr; i++) {
		if (strlen(values->values[i].name) == in->len &&
		    memcmp(values->values[i].name, in->bytes, in->len) == 0) {
			*value = values->values[i].value;
			return true;
		}
	}
	return false;
}

/* An enum is a number, or a label that the file explains; what it does not explain stays a text. */
static bool arg_as_enum(struct args *args, struct arg_in *in, struct ftr_arg *arg)
{
	int64_t value;

	arg->values = arg->type_name == NULL ? NULL :
		      fxt_enum_find(args->r, ftr_slice_make(arg->type_name,
							    strlen(arg->type_name)));
	if (in->type == FXT_ARG_STRING) {
		if (arg->values == NULL || !enum_value(arg->values, in, &value))
			return false;
		in->number = (uint64_t)value;
		in->type = FXT_ARG_INT32;
	}
	arg->format = FTR_ARG_ENUM;
	return true;
}

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool fxt_hex_decode(const char *text, uint32_t len, uint8_t *bytes)
{
	for (uint32_t i = 0; i + 1 < len; i += 2) {
		int high = digit_value(text[i]), low = digit_value(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		if (bytes != NULL)
			bytes[i / 2] = (uint8_t)(16 * high + low);
	}
	return len % 2 == 0;
}

/* The bytes of a struct, also where they are digits. */
static bool arg_as_struct(struct args *args, const struct arg_in *in, struct ftr_arg *arg)
{
	arg->shape = arg->type_name == NULL ? NULL : fxt_shape_find(args->r, arg->type_name);
	if (in->type == FXT_ARG_BLOB)
		return in->len == in->name->size;
	return in->len == 2u * in->name->size && fxt_hex_decode(in->bytes, in->len, NULL);
}

/* Apply the letter; false when it does not suit the type, so that the name is not ours. */
static bool arg_as_letter(struct args *args, struct arg_in *in, struct ftr_arg *arg)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		if (letters[i].letter != in->name->letter ||
		    !(letters[i].types & FTR_BIT(in->type)))
			continue;
		arg->format = letters[i].format;
		if (arg->format == FTR_ARG_STRUCT)
			return arg_as_struct(args, in, arg);
		if (arg->format == FTR_ARG_STRING)
			arg->type_name = "string";
		return arg->format != FTR_ARG_ENUM || arg_as_enum(args, in, arg);
	}
	return false;
}

static bool is_text(const struct ftr_arg *arg)
{
	return arg->format == FTR_ARG_STRING || arg->format == FTR_ARG_WORD;
}

static void arg_layout(struct args *args, struct arg_in *in, struct ftr_arg *arg)
{
	memset(arg, 0, sizeof(*arg));	/* padding too: layouts are compared as bytes */
	arg->index = in->name->index;
	arg->is_float_reg = in->name->is_float_reg;
	arg->type_name = in->name->type_name;
	arg->name = in->name->name;
	arg->format = arg->name == NULL ? types[in->type].own : types[in->type].other;
	if (in->name->letter != '\0' && !arg_as_letter(args, in, arg)) {
		memset(arg, 0, sizeof(*arg));
		arg->name = in->key->str->s;
		arg->format = types[in->type].other;
	}
	if (in->is_word && in->name->letter == '\0')
		arg->format = FTR_ARG_WORD;
	arg->size = types[in->type].size != 0 ? types[in->type].size : (uint16_t)in->len;
	if (arg->format == FTR_ARG_STRUCT && in->type == FXT_ARG_STRING)
		arg->size = (uint16_t)(in->len / 2);
	if (arg->format == FTR_ARG_NULL)
		arg->size = 4;
	if (is_text(arg))
		arg->size = 0;
}

/* Append the value as the layout says: values are padded to 4 bytes. */
static bool arg_store(struct args *args, const struct arg_in *in, const struct ftr_arg *arg)
{
	uint32_t head = is_text(arg) ? 2 : 0;
	uint32_t body = head != 0 ? in->len : arg->size;
	uint32_t need = (uint32_t)ftr_align_up(head + body, 4);
	uint8_t *p = args->out->bytes + args->len;
	uint16_t len = (uint16_t)in->len;

	if (args->len + need > FXT_PAYLOAD_MAX)
		return false;
	memset(p, 0, need);
	if (head != 0)
		memcpy(p, &len, sizeof(len));
	if (arg->format == FTR_ARG_STRUCT && in->type == FXT_ARG_STRING) {
		fxt_hex_decode(in->bytes, in->len, p);
	} else if (head != 0 || arg->format == FTR_ARG_STRUCT) {
		memcpy(p + head, in->bytes, in->len);
	} else if (arg->size == 8) {
		memcpy(p, &in->number, 8);
	} else {
		uint32_t number = (uint32_t)in->number;

		memcpy(p, &number, 4);
	}
	args->len += need;
	return true;
}

static bool text_is_loc(const char *s, uint32_t len)
{
	uint32_t digits = 0;

	while (digits < len && s[len - 1 - digits] >= '0' && s[len - 1 - digits] <= '9')
		digits++;
	return digits > 0 && digits < 10 && digits + 1 < len && s[len - 1 - digits] == ':';
}

/*
 * Arguments of calls that are no values of the program; true when it is one of them.  Others write
 * "loc", too.
 */
static bool arg_is_mark(struct args *args, unsigned event, const struct arg_in *in)
{
	const struct fxt_reader *r = args->r;
	bool is_begin = event == FXT_DURATION_BEGIN || event == FXT_DURATION_COMPLETE;

	if (in->is_value)
		return false;
	if (in->key == r->key_loc && in->type == FXT_ARG_STRING && is_begin &&
	    text_is_loc(in->bytes, in->len)) {
		args->out->loc = fxt_text_get(args->r, in->bytes, in->len);
		return true;
	}
	if (!in->is_ours)
		return false;
	if (in->key == r->key_symbol && in->type == FXT_ARG_STRING && is_begin && in->len > 0) {
		args->out->symbol = fxt_text_get(args->r, in->bytes, in->len);
		return true;
	}
	if (in->type != FXT_ARG_BOOL || in->number != 1 || !(is_begin || event == FXT_DURATION_END))
		return false;
	if (in->key == r->key_inferred)
		args->out->flags |= FTR_EVENT_INFERRED;
	else if (in->key == r->key_no_entry && is_begin)
		args->out->flags |= FTR_EVENT_NO_ENTRY;
	else
		return false;
	return true;
}

static bool arg_take(struct args *args, const struct fxt_decoded *ev, struct arg_in *in)
{
	const struct fxt_reader *r = args->r;
	bool is_event = fxt_record_type(ev->at.header) == FXT_EVENT;
	unsigned event = is_event ? fxt_event_type(ev->at.header) : FXT_EVENT_TYPES;

	if (arg_is_mark(args, event, in))
		return true;
	if (in->key == r->key_child && in->type == FXT_ARG_KOID && args->out->child == 0)
		args->out->child = in->number;
	if (in->key == r->key_records)
		args->out->records = in->number;
	if (in->key == r->key_cpu && in->number < UINT16_MAX)
		args->out->cpu_nr = (uint16_t)(in->number + 1);
	if (in->key == r->key_tracepoint && args->nr == 0)
		args->out->is_tracepoint = in->is_ours && !in->is_value;
	if (args->nr == ARGS_MAX)
		return false;
	arg_layout(args, in, &args->args[args->nr]);
	return arg_store(args, in, &args->args[args->nr++]);
}

static bool args_parse(struct args *args, const struct fxt_decoded *first,
		       const struct fxt_decoded *ev)
{
	struct fxt_provider *provider = fxt_provider_at(args->r, ev->at.offset);
	uint64_t pos = ev->args;

	for (unsigned i = 0; i < ev->arg_nr; i++) {
		uint64_t bytes = fxt_arg_words(fxt_word(args->r, pos)) * 8;
		struct arg_in in;

		if (arg_parse(args->r, provider, ev->at.offset, pos, pos + bytes, &in)) {
			if (!arg_take(args, first, &in))
				return false;
		} else if (fxt_arg_type(fxt_word(args->r, pos)) <= FXT_ARG_BLOB) {
			args->r->damaged_nr++;
		}
		pos += bytes;
	}
	return true;
}

/* Does another record with more arguments of this event follow? */
static bool continuation_next(struct fxt_reader *r, const struct fxt_decoded *first,
			      struct fxt_decoded *ev)
{
	struct fxt_record_at at;
	uint64_t offset = ev->at.offset + ev->at.bytes;
	uint64_t from = offset;

	return fxt_record_next(r, &offset, &at, false) && at.offset == from &&
	       fxt_record_type(at.header) == FXT_EVENT &&
	       fxt_event_type(at.header) == FXT_INSTANT && fxt_decode(r, &at, ev) &&
	       ev->category == r->own && ev->name == r->name_more &&
	       ev->time_ns == first->time_ns && ev->task == first->task;
}

static const struct ftr_argspec *spec_intern(struct fxt_reader *r, const struct args *args)
{
	size_t bytes = args->nr * sizeof(args->args[0]);
	uint64_t hash = ftr_hash_bytes(args->args, bytes) ^ args->nr;
	struct ftr_argspec *spec = ftr_hashmap_find(&r->specs, hash);

	if (spec != NULL && spec->nr == args->nr && memcmp(spec->args, args->args, bytes) == 0)
		return spec;
	spec = ftr_arena_alloc(&r->trace->arena, sizeof(*spec) + bytes);
	if (spec == NULL || ftr_hashmap_set(&r->specs, hash, spec) < 0) {
		r->is_failed = true;
		return NULL;
	}
	spec->nr = (uint16_t)args->nr;
	memcpy(spec->args, args->args, bytes);
	return spec;
}

/* Mostly the layout is that of the last event of this name. */
static const struct ftr_argspec *spec_get(struct fxt_reader *r, const struct args *args,
					  struct fxt_text *name)
{
	const struct ftr_argspec *spec = name->spec;

	if (spec == NULL || spec->nr != args->nr ||
	    memcmp(spec->args, args->args, args->nr * sizeof(args->args[0])) != 0)
		name->spec = spec_intern(r, args);
	return name->spec;
}

bool fxt_args_read(struct fxt_reader *r, const struct fxt_decoded *ev, struct fxt_args_out *out)
{
	struct args args;
	struct fxt_decoded part = *ev;
	bool is_whole;

	args.r = r;
	args.out = out;
	args.len = 0;
	args.nr = 0;
	out->loc = NULL;
	out->symbol = NULL;
	out->flags = 0;
	out->child = 0;
	out->records = 0;
	do
		is_whole = args_parse(&args, ev, &part);
	while (is_whole && part.arg_nr > 0 && continuation_next(r, ev, &part));
	if (!is_whole)
		r->damaged_nr++;
	if (args.nr == 0)
		return false;
	while (args.len % 8 != 0)
		out->bytes[args.len++] = 0;
	*out->payload = (struct ftr_payload){
		.data = out->bytes, .len = (uint16_t)args.len, .is_big_endian = FTR_HOST_IS_BIG,
		.spec = spec_get(r, &args, ev->name),
	};
	return out->payload->spec != NULL;
}
