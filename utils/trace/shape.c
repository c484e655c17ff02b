/* SPDX-License-Identifier: MIT */
/*
 * Values by their shapes: see shape.h.  Words come from a file: nothing in them leads beyond the
 * bytes that there are.
 */
#include "utils/trace/shape.h"

#include <string.h>

#include "utils/base/bytes.h"
#include "utils/trace/shape_node.h"

#define ELEMENTS_SHOWN 16u

struct printer {
	const uint8_t *bytes;
	size_t len;
	struct ftr_trace *trace;
	struct ftr_session *session;
	struct ftr_strbuf *text;
};

static void put(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end);

static void put_cut(struct printer *self)
{
	ftr_strbuf_puts(self->text, "...");
}

/* Of a bit field, the bytes that its bits are in. */
static size_t bits_bytes(const struct ftr_shape *shape)
{
	return (shape->bit + shape->bit_nr + 7u) / 8;
}

static void decode_bits(const struct ftr_shape *shape, const uint8_t *bytes,
			struct ftr_value *value)
{
	uint64_t bits = ftr_get_unsigned(bytes, bits_bytes(shape), false);
	unsigned unused = 64u - shape->bit_nr;

	bits = bits >> shape->bit << unused;
	if (shape->scalar.format == FTR_ARG_SIGNED)
		value->i = (int64_t)bits >> unused;
	else
		value->u = bits >> unused;
}

void ftr_shape_scalar(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_value *value)
{
	if (shape->bit_nr > 0)
		decode_bits(shape, bytes, value);
	else
		ftr_value_decode(value, bytes, shape->scalar.size, false);
}

static void put_scalar(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	struct ftr_value value = { .arg = &shape->scalar };

	ftr_shape_scalar(shape, self->bytes + base, &value);
	ftr_value_format(&value, self->trace, self->session, self->text);
}

static void put_chars(struct printer *self, size_t at, size_t nr)
{
	ftr_strbuf_putc(self->text, '"');
	for (size_t i = 0; i < nr && self->bytes[at + i] != '\0'; i++)
		ftr_value_put_byte(self->text, self->bytes[at + i]);
	ftr_strbuf_putc(self->text, '"');
}

static void put_text(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	if (ftr_get_unsigned(self->bytes + base + shape->at, FTR_SHAPE_WORD, false) == 0)
		ftr_strbuf_puts(self->text, "NULL");
	else if (base + shape->to + shape->nr > self->len)
		put_cut(self);
	else
		put_chars(self, base + shape->to, shape->nr);
}

/* Rust's tuples have members __0, __1 ... */
static bool is_name_told(const char *name)
{
	return name[0] != '\0' &&
	       (strncmp(name, "__", 2) != 0 || strspn(name + 2, "0123456789") != strlen(name + 2));
}

static void put_struct(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	const struct ftr_shape *member;

	ftr_strbuf_putc(self->text, '{');
	for (member = shape->inner; member != NULL; member = member->next) {
		if (member != shape->inner)
			ftr_strbuf_puts(self->text, ", ");
		if (base + member->offset >= end) {	/* nor those behind it */
			put_cut(self);
			break;
		}
		if (is_name_told(member->name))
			ftr_strbuf_printf(self->text, ".%s = ", member->name);
		put(self, member, base + member->offset, end);
	}
	ftr_strbuf_putc(self->text, '}');
}

static void put_array(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	ftr_strbuf_putc(self->text, '{');
	for (uint32_t i = 0; i < shape->nr; i++) {
		size_t at = base + (size_t)i * shape->bytes;

		if (i > 0)
			ftr_strbuf_puts(self->text, ", ");
		if (at >= end || i == ELEMENTS_SHOWN) {
			put_cut(self);
			break;
		}
		put(self, shape->inner, at, end);
	}
	ftr_strbuf_putc(self->text, '}');
}

static void put_pointer(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	uint64_t pointer = ftr_get_unsigned(self->bytes + base, FTR_SHAPE_WORD, false);
	size_t at = base + shape->to;
	uint32_t have;

	if (at + FTR_SHAPE_COUNT_BYTES + shape->bytes > self->len) {
		put_cut(self);
		return;
	}
	have = (uint32_t)ftr_get_unsigned(self->bytes + at, FTR_SHAPE_COUNT_BYTES, false);
	if (have == 0 || pointer == 0) {
		ftr_strbuf_printf(self->text, "%#llx", (unsigned long long)pointer);
		return;
	}
	ftr_strbuf_putc(self->text, '&');
	at += FTR_SHAPE_COUNT_BYTES;
	put(self, shape->inner, at, at + (have < shape->bytes ? have : shape->bytes));
}

bool ftr_shape_list_nr(const struct ftr_shape *shape, const uint8_t *bytes, uint64_t *nr)
{
	uint64_t begin = ftr_get_unsigned(bytes + shape->at, FTR_SHAPE_WORD, false);

	*nr = ftr_get_unsigned(bytes + shape->length, FTR_SHAPE_WORD, false);
	if (!shape->is_ends)
		return true;
	if (*nr < begin || (*nr - begin) % shape->bytes != 0)
		return false;
	*nr = (*nr - begin) / shape->bytes;
	return true;
}

/* As many of the elements as were copied. */
static void put_elements(struct printer *self, const struct ftr_shape *shape, size_t at,
			 uint64_t nr)
{
	size_t end = at;
	uint64_t i;

	if (shape->nr > 0 && at + FTR_SHAPE_COUNT_BYTES + shape->nr <= self->len) {
		uint64_t have = ftr_get_unsigned(self->bytes + at, FTR_SHAPE_COUNT_BYTES, false);

		at += FTR_SHAPE_COUNT_BYTES;
		end = at + (have < shape->nr ? (size_t)have : shape->nr);
	}
	for (i = 0; i < nr; i++) {
		ftr_strbuf_puts(self->text, i > 0 ? ", " : "");
		if (i == ELEMENTS_SHOWN || shape->nr == 0 || shape->bytes > end - at) {
			put_cut(self);
			break;
		}
		put(self, shape->inner, at, at + shape->bytes);
		at += shape->bytes;
	}
}

static void put_list(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	uint64_t nr;

	if (!ftr_shape_list_nr(shape, self->bytes + base, &nr)) {
		put_cut(self);
		return;
	}
	ftr_strbuf_printf(self->text, "[%llu]{", (unsigned long long)nr);
	put_elements(self, shape, base + shape->to, nr);
	ftr_strbuf_putc(self->text, '}');
}

const struct ftr_shape *ftr_shape_case(const struct ftr_shape *shape, const uint8_t *bytes)
{
	uint64_t value = ftr_get_unsigned(bytes + shape->at, shape->bytes, false);
	const struct ftr_shape *one, *found = NULL;

	for (one = shape->inner; one != NULL; one = one->next) {
		if (one->is_default ? found == NULL : one->value == value)
			found = one;
	}
	return found;
}

static void put_variant(struct printer *self, const struct ftr_shape *shape, size_t base,
			size_t end)
{
	const struct ftr_shape *found = ftr_shape_case(shape, self->bytes + base);

	if (found == NULL) {
		put_cut(self);
		return;
	}
	ftr_strbuf_puts(self->text, found->name);
	if (!found->is_name_only)
		put(self, found, base + found->offset, end);
}

size_t ftr_shape_needed_bytes(const struct ftr_shape *shape)
{
	switch (shape->kind) {
	case FTR_SHAPE_SCALAR:
		return shape->bit_nr > 0 ? bits_bytes(shape) : shape->scalar.size;
	case FTR_SHAPE_CHARS:
		return shape->nr;
	case FTR_SHAPE_TEXT:
		return shape->at + FTR_SHAPE_WORD;
	case FTR_SHAPE_POINTER:
		return FTR_SHAPE_WORD;
	case FTR_SHAPE_LIST:
		return FTR_SHAPE_WORD + (shape->at > shape->length ? shape->at : shape->length);
	case FTR_SHAPE_VARIANT:
		return shape->at + shape->bytes;
	default:
		return 0;
	}
}

static void put(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	if (base > end || ftr_shape_needed_bytes(shape) > end - base) {
		put_cut(self);
		return;
	}
	switch (shape->kind) {
	case FTR_SHAPE_SCALAR:
		put_scalar(self, shape, base);
		break;
	case FTR_SHAPE_CHARS:
		put_chars(self, base, shape->nr);
		break;
	case FTR_SHAPE_TEXT:
		put_text(self, shape, base);
		break;
	case FTR_SHAPE_STRUCT:
		put_struct(self, shape, base, end);
		break;
	case FTR_SHAPE_ARRAY:
		put_array(self, shape, base, end);
		break;
	case FTR_SHAPE_POINTER:
		put_pointer(self, shape, base);
		break;
	case FTR_SHAPE_PART:
		put(self, shape->inner, base + shape->at, end);
		break;
	case FTR_SHAPE_LIST:
		put_list(self, shape, base);
		break;
	case FTR_SHAPE_VARIANT:
		put_variant(self, shape, base, end);
		break;
	}
}

void ftr_shape_format(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
		      struct ftr_trace *trace, struct ftr_session *session, struct ftr_strbuf *text)
{
	struct printer printer = { .bytes = bytes, .len = len, .trace = trace,
				   .session = session, .text = text };

	put(&printer, shape, 0, len);
}
