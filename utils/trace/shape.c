/* SPDX-License-Identifier: MIT */
/*
 * Values by their shapes: see shape.h.  Words come from a file: nothing in them leads beyond the
 * bytes that there are.
 */
#include "utils/trace/shape.h"

#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/trace/shape_node.h"

#define ELEMENTS_SHOWN 16u

struct printer {
	const uint8_t *bytes;
	size_t len;
	struct ftr_trace *trace;
	struct ftr_session *session;
	struct ftr_strbuf *text;
	ftr_shape_pointer_fn *take_pointer;	/* (nullable) text is not wanted, but these are */
	void *arg;
	int ret;				/* of take_pointer */
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

/* One of less than 32 bits that has a sign, if that is what it is called. */
static void decode_enum(const struct ftr_arg *arg, struct ftr_value *value)
{
	int64_t number = ftr_sign_extend(value->u, arg->size);
	bool is_known = false;

	for (uint32_t i = 0; arg->values != NULL && i < arg->values->nr; i++) {
		if (arg->values->values[i].value == (int64_t)value->u)
			return;
		is_known |= arg->values->values[i].value == number;
	}
	if (is_known)
		value->i = number;
}

void ftr_shape_scalar(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_value *value)
{
	if (shape->bit_nr > 0)
		decode_bits(shape, bytes, value);
	else
		ftr_value_decode(value, bytes, shape->scalar.size, false);
	if (shape->scalar.format == FTR_ARG_ENUM && shape->bit_nr == 0)
		decode_enum(&shape->scalar, value);
}

static void put_scalar(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	struct ftr_value value = { .arg = &shape->scalar };
	bool is_code = shape->scalar.format == FTR_ARG_POINTER && shape->bit_nr == 0 &&
		       shape->scalar.size == FTR_SHAPE_WORD;

	ftr_shape_scalar(shape, self->bytes + base, &value);
	if (self->take_pointer == NULL)
		ftr_value_format(&value, self->trace, self->session, self->text);
	else if (is_code && self->ret == 0)
		self->ret = self->take_pointer(self->arg, base, value.u);
}

static void put_wide(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	const uint8_t *bytes = self->bytes + base;
	uint64_t low = ftr_get_unsigned(bytes, FTR_SHAPE_WORD, false);
	uint64_t high = ftr_get_unsigned(bytes + FTR_SHAPE_WORD, FTR_SHAPE_WORD, false);

	ftr_value_put_wide(self->text, shape->scalar.format, low, high);
}

/* Each part is in its half, with padding behind. */
static void put_complex(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	uint32_t half = shape->bytes / 2;
	struct ftr_arg arg = { .format = FTR_ARG_FLOAT, .size = half > 8 ? 10 : (uint16_t)half };
	struct ftr_value real = { .arg = &arg }, imaginary = real;

	ftr_value_decode(&real, self->bytes + base, arg.size, false);
	ftr_value_decode(&imaginary, self->bytes + base + half, arg.size, false);
	ftr_strbuf_printf(self->text, "%Lf%+Lfi", real.f, imaginary.f);
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
	if (shape->has_pointer &&
	    ftr_get_unsigned(self->bytes + base + shape->at, FTR_SHAPE_WORD, false) == 0)
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

/* Of no bytes, wherever it stands: Rust's (), and what only marks a type. */
static bool is_nothing(const struct ftr_shape *shape)
{
	return shape->kind == FTR_SHAPE_SCALAR && shape->bit_nr == 0 && shape->scalar.size == 0;
}

static void put_members(struct printer *self, const struct ftr_shape *shape, size_t base,
			size_t end, const char *around)
{
	const struct ftr_shape *member;

	ftr_strbuf_putc(self->text, around[0]);
	for (member = shape->inner; member != NULL; member = member->next) {
		if (member != shape->inner)
			ftr_strbuf_puts(self->text, ", ");
		if (base + member->offset >= end && !is_nothing(member)) {	/* nor others */
			put_cut(self);
			break;
		}
		if (is_name_told(member->name))
			ftr_strbuf_printf(self->text, ".%s = ", member->name);
		put(self, member, base + member->offset, end);
	}
	ftr_strbuf_putc(self->text, around[1]);
}

static void put_struct(struct printer *self, const struct ftr_shape *shape, size_t base, size_t end)
{
	put_members(self, shape, base, end, "{}");
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

/* False: no container has so many. */
static bool sum_read(const struct ftr_shape_sum *sum, const uint8_t *bytes, uint64_t *nr)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < sum->nr; i++) {
		const struct ftr_shape_term *term = &sum->v[i];
		uint64_t value = ftr_get_unsigned(bytes + term->at, term->bytes, false) *
				 term->factor;

		total += term->is_minus ? -value : value;
	}
	*nr = total / sum->divisor;
	return total % sum->divisor == 0 && total <= INT64_MAX;
}

static bool number_read(const struct ftr_shape *shape, const uint8_t *bytes,
			const struct ftr_shape_elements *copied, bool is_ended, uint64_t *nr)
{
	uint64_t begin = ftr_get_unsigned(bytes + shape->at, FTR_SHAPE_WORD, false);

	switch (shape->number) {
	case FTR_SHAPE_SUM:
		return sum_read(shape->sum, bytes, nr);
	case FTR_SHAPE_OPEN:
		*nr = is_ended ? (copied->end - copied->at) / shape->bytes : UINT64_MAX;
		return true;
	case FTR_SHAPE_ENDS:
		*nr = ftr_get_unsigned(bytes + shape->length, FTR_SHAPE_WORD, false) - begin;
		if (*nr > INT64_MAX || *nr % shape->bytes != 0)
			return false;
		*nr /= shape->bytes;
		return true;
	default:
		*nr = ftr_get_unsigned(bytes + shape->length, FTR_SHAPE_WORD, false);
		return true;
	}
}

bool ftr_shape_narrow(const struct ftr_shape *shape, const uint8_t *bytes, struct ftr_arg *type,
		      struct ftr_value *value)
{
	uint64_t low = ftr_get_unsigned(bytes, FTR_SHAPE_WORD, false);
	uint64_t high = ftr_get_unsigned(bytes + FTR_SHAPE_WORD, FTR_SHAPE_WORD, false);
	bool is_signed = shape->scalar.format == FTR_ARG_SIGNED;

	if (high != (is_signed && (int64_t)low < 0 ? UINT64_MAX : 0))
		return false;
	*type = shape->scalar;
	type->size = FTR_SHAPE_WORD;
	value->u = low;
	return true;
}

bool ftr_shape_elements(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
			size_t base, struct ftr_shape_elements *elements)
{
	size_t at = base + shape->to;
	uint64_t have = 0;

	if (shape->nr > 0 && at + FTR_SHAPE_COUNT_BYTES + shape->nr <= len)
		have = ftr_get_unsigned(bytes + at, FTR_SHAPE_COUNT_BYTES, false);
	elements->at = at + FTR_SHAPE_COUNT_BYTES;
	elements->end = elements->at;
	if (shape->number == FTR_SHAPE_OPEN)
		elements->end += have & ~(uint64_t)FTR_SHAPE_ENDED;
	else
		elements->end += have;
	if (elements->end - elements->at > shape->nr)
		elements->end = elements->at + shape->nr;
	return number_read(shape, bytes + base, elements, (have & FTR_SHAPE_ENDED) != 0,
			   &elements->nr);
}

/* Bits are counted from the lowest of the first byte on. */
static const struct ftr_shape *bit_of(const struct ftr_shape *shape, uint64_t index)
{
	const struct ftr_shape *inner = shape->inner;

	for (uint64_t i = 0; i < index % FTR_SHAPE_BITS; i++)
		inner = inner->next;
	return inner;
}

const struct ftr_shape *ftr_shape_element(const struct ftr_shape *shape,
					  const struct ftr_shape_elements *elements,
					  uint64_t index, size_t *at)
{
	size_t have = elements->end - elements->at;

	if (index >= elements->nr || index > have * FTR_SHAPE_BITS || shape->nr == 0)
		return NULL;
	if (shape->bytes == 0) {
		*at = elements->at + (size_t)index / FTR_SHAPE_BITS;
		return *at < elements->end ? bit_of(shape, index) : NULL;
	}
	*at = elements->at + (size_t)index * shape->bytes;
	return (index + 1) * shape->bytes <= have ? shape->inner : NULL;
}

/* As many of the elements as were copied. */
static void put_elements(struct printer *self, const struct ftr_shape *shape,
			 const struct ftr_shape_elements *elements)
{
	for (uint64_t i = 0; i < elements->nr; i++) {
		const struct ftr_shape *one;
		size_t at;

		ftr_strbuf_puts(self->text, i > 0 ? ", " : "");
		one = i == ELEMENTS_SHOWN ? NULL : ftr_shape_element(shape, elements, i, &at);
		if (one == NULL) {
			put_cut(self);
			break;
		}
		put(self, one, at, at + (shape->bytes > 0 ? shape->bytes : 1));
	}
}

static void put_list(struct printer *self, const struct ftr_shape *shape, size_t base)
{
	struct ftr_shape_elements elements;

	if (!ftr_shape_elements(shape, self->bytes, self->len, base, &elements)) {
		put_cut(self);
		return;
	}
	if (elements.nr == UINT64_MAX && shape->number == FTR_SHAPE_OPEN)
		ftr_strbuf_puts(self->text, "[...]{");
	else
		ftr_strbuf_printf(self->text, "[%llu]{", (unsigned long long)elements.nr);
	put_elements(self, shape, &elements);
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

/* As Rust writes it, Some(1): what has a name and members that have none. */
static bool is_tuple(const struct ftr_shape *found)
{
	return !found->is_name_only && found->name[0] != '\0' &&
	       found->kind == FTR_SHAPE_STRUCT && found->inner != NULL &&
	       found->inner->name[0] != '\0' && !is_name_told(found->inner->name);
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
	if (is_tuple(found))
		put_members(self, found, base + found->offset, end, "()");
	else if (!found->is_name_only)
		put(self, found, base + found->offset, end);
}

static size_t list_bytes(const struct ftr_shape *shape)
{
	size_t most = FTR_SHAPE_WORD + (shape->at > shape->length ? shape->at : shape->length);

	for (uint32_t i = 0; shape->sum != NULL && i < shape->sum->nr; i++) {
		const struct ftr_shape_term *term = &shape->sum->v[i];

		most = term->at + term->bytes > most ? term->at + term->bytes : most;
	}
	return most;
}

size_t ftr_shape_needed_bytes(const struct ftr_shape *shape)
{
	switch (shape->kind) {
	case FTR_SHAPE_SCALAR:
		return shape->bit_nr > 0 ? bits_bytes(shape) : shape->scalar.size;
	case FTR_SHAPE_WIDE:
	case FTR_SHAPE_COMPLEX:
		return shape->bytes;
	case FTR_SHAPE_CHARS:
		return shape->nr;
	case FTR_SHAPE_TEXT:
		return shape->at + FTR_SHAPE_WORD;
	case FTR_SHAPE_POINTER:
		return FTR_SHAPE_WORD;
	case FTR_SHAPE_LIST:
		return list_bytes(shape);
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
	case FTR_SHAPE_WIDE:
		put_wide(self, shape, base);
		break;
	case FTR_SHAPE_COMPLEX:
		put_complex(self, shape, base);
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

int ftr_shape_pointers(const struct ftr_shape *shape, const uint8_t *bytes, size_t len,
		       ftr_shape_pointer_fn *fn, void *arg)
{
	struct ftr_strbuf text;
	struct printer printer = { .bytes = bytes, .len = len, .text = &text,
				   .take_pointer = fn, .arg = arg };

	if (!shape->points_to_code)
		return 0;
	ftr_strbuf_init(&text);
	put(&printer, shape, 0, len);
	ftr_strbuf_fini(&text);
	return printer.ret;
}
