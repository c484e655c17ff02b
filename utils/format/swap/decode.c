/* SPDX-License-Identifier: MIT */
/* Bytes of a payload to values. */
#include <math.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/swap/codec.h"

struct decoder {
	const uint8_t *p;
	size_t left;
	const struct swap_layout *layout;
	struct swap_values *values;
	uint32_t selected;	/* bit of the selector's value; 0 = none of 0..31 */
	uint64_t number;	/* the last one */
	uint32_t device_nr;	/* UINT32_MAX = the first PER_DEVICE shows it */
};

int swap_arg_bytes(char type)
{
	switch (type) {
	case 'v': case 'n':
		return 0;
	case 'c': case 'b':
		return 1;
	case 'd': case 'f':
		return 4;
	case 'x': case 'p': case 'w':
		return 8;
	case 's': case 'D': case 'F': case 'W':
		return -1;
	default:
		return -2;
	}
}

uint64_t swap_time_get(const uint8_t *p, enum swap_time_form form)
{
	uint64_t first = ftr_get_u32(p, false), second = ftr_get_u32(p + 4, false);

	return form == SWAP_TIME_DOCUMENT ? second << SWAP_TIME_S_SHIFT | first :
					    first << SWAP_TIME_S_SHIFT | second;
}

void swap_time_put(uint8_t *p, uint64_t time, enum swap_time_form form)
{
	uint64_t turned = time << SWAP_TIME_S_SHIFT | swap_time_seconds(time);

	ftr_put_u64(p, form == SWAP_TIME_DOCUMENT ? time : turned, false);
}

static int put(struct decoder *d, struct swap_value value)
{
	return ftr_vec_push(&d->values->all, value);
}

/* A number of so many bytes. */
static int take_number(struct decoder *d, size_t bytes, uint64_t *number)
{
	if (d->left < bytes)
		return -EBADMSG;
	*number = ftr_get_unsigned(d->p, bytes, false);
	d->p += bytes;
	d->left -= bytes;
	return 0;
}

static int number_field(struct decoder *d, const struct swap_field *field, size_t bytes)
{
	struct swap_value value = { .field = field };
	int ret = take_number(d, bytes, &value.u);

	if (ret < 0)
		return ret;
	if (field->is_selector)
		d->selected = swap_selector_bit(value.u);
	d->number = value.u;
	return put(d, value);
}

static int time_field(struct decoder *d, const struct swap_field *field)
{
	struct swap_value value = { .field = field };

	if (d->left < 8)
		return -EBADMSG;
	value.u = swap_time_get(d->p, d->layout->time_form);
	d->p += 8;
	d->left -= 8;
	return put(d, value);
}

static int bytes_value(struct decoder *d, struct swap_value value, uint64_t len)
{
	if (len > d->left)
		return -EBADMSG;
	value.s = (const char *)d->p;
	value.len = (uint32_t)len;
	d->p += len;
	d->left -= len;
	return put(d, value);
}

static int text_value(struct decoder *d, struct swap_value value)
{
	const uint8_t *end = memchr(d->p, '\0', d->left);
	int ret;

	if (d->left == 0 || end == NULL)
		return -EBADMSG;
	ret = bytes_value(d, value, (uint64_t)(end - d->p));
	d->p++;
	d->left--;
	return ret;
}

/* Its pointer, its count and its elements, as they are. */
static int array_value(struct decoder *d, struct swap_value value)
{
	uint64_t element_bytes = value.type == 'W' ? 8 : 4;

	if (d->left < 12)
		return -EBADMSG;
	return bytes_value(d, value, 12 + ftr_get_u32(d->p + 8, false) * element_bytes);
}

static int arg_value(struct decoder *d, const struct swap_field *field)
{
	struct swap_value value = { .field = field };
	int bytes, ret;

	if (d->left == 0)
		return -EBADMSG;
	value.type = (char)*d->p;
	bytes = swap_arg_bytes(value.type);
	if (bytes < -1)
		return -EBADMSG;
	d->p++;
	d->left--;
	if (bytes < 0)
		return value.type == 's' ? text_value(d, value) : array_value(d, value);
	ret = take_number(d, (size_t)bytes, &value.u);
	return ret < 0 ? ret : put(d, value);
}

static int args_field(struct decoder *d, const struct swap_field *field)
{
	uint64_t nr;
	int ret = take_number(d, 4, &nr);

	if (ret == 0)
		ret = put(d, (struct swap_value){ .field = field, .u = nr });
	for (uint64_t i = 0; ret == 0 && i < nr; i++)
		ret = arg_value(d, field);
	return ret;
}

/* So many words of 4 bytes, behind a value that says how many. */
static int words_field(struct decoder *d, const struct swap_field *field, uint32_t nr)
{
	int ret = put(d, (struct swap_value){ .field = field, .u = nr });

	for (uint32_t i = 0; ret == 0 && i < nr; i++)
		ret = number_field(d, field, 4);
	return ret;
}

/* All that is left is of devices: two arrays of the same length. */
static int device_field(struct decoder *d, const struct swap_field *field)
{
	if (d->device_nr == UINT32_MAX) {
		if (d->left % 8 != 0 || d->left / 8 >= UINT32_MAX)
			return -EBADMSG;
		d->device_nr = (uint32_t)(d->left / 8);
	}
	return words_field(d, field, d->device_nr);
}

/* A field that is no list. */
static int plain_field(struct decoder *d, const struct swap_field *field)
{
	switch ((enum swap_kind)field->kind) {
	case SWAP_U8:
		return number_field(d, field, 1);
	case SWAP_U32:
	case SWAP_FLOAT:
		return number_field(d, field, 4);
	case SWAP_U64:
	case SWAP_ADDR:
	case SWAP_DOUBLE:
		return number_field(d, field, 8);
	case SWAP_TIME:
		return time_field(d, field);
	case SWAP_STR:
		return text_value(d, (struct swap_value){ .field = field });
	case SWAP_ARG:
		return arg_value(d, field);
	case SWAP_ARGS:
		return args_field(d, field);
	case SWAP_PER_CPU:
		return words_field(d, field, d->layout->cpu_nr);
	case SWAP_PER_DEVICE:
		return device_field(d, field);
	case SWAP_BYTES:
		return bytes_value(d, (struct swap_value){ .field = field }, d->number);
	case SWAP_REST:
		return bytes_value(d, (struct swap_value){ .field = field }, d->left);
	case SWAP_LIST:
	case SWAP_MORE:
		break;
	}
	return -EBADMSG;
}

static int decode_rows(struct decoder *d, const struct swap_field *field, uint32_t nr);

static int list_field(struct decoder *d, const struct swap_field *field)
{
	uint64_t nr = d->left > 0;
	int ret = field->kind == SWAP_MORE ? 0 : take_number(d, 4, &nr);

	if (ret == 0)
		ret = put(d, (struct swap_value){ .field = field, .u = nr });
	for (uint64_t i = 0; ret == 0 && i < nr; i++)
		ret = decode_rows(d, field + 1, field->rows);
	return ret;
}

static int decode_rows(struct decoder *d, const struct swap_field *field, uint32_t nr)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < nr; i += 1u + field[i].rows) {
		if (field[i].when != 0 && !(field[i].when & d->selected))
			continue;
		ret = field[i].rows > 0 ? list_field(d, &field[i]) : plain_field(d, &field[i]);
	}
	return ret;
}

int swap_decode(const struct swap_message *message, const uint8_t *payload, size_t len,
		const struct swap_layout *layout, struct swap_values *values)
{
	struct decoder d = { .p = payload, .left = len, .layout = layout, .values = values,
			     .device_nr = layout->device_nr };
	int ret;

	values->all.nr = 0;
	ret = decode_rows(&d, message->fields, message->field_nr);
	return ret == 0 && d.left > 0 ? -EBADMSG : ret;
}

#define CPUS_MAX 4096u

/* Are all loads percents? */
static bool loads_are_sane(const struct swap_values *values)
{
	for (size_t i = 0; i < values->all.nr; i++) {
		const struct swap_value *value = &values->all.v[i];
		uint32_t bits = (uint32_t)value->u;
		float number;

		if (strcmp(value->field->name, "load") != 0)
			continue;
		if (value->field->kind == SWAP_PER_CPU && i > 0 &&
		    value[-1].field != value->field)
			continue;	/* how many there are */
		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number) || number < 0 || number > 1000)
			return false;
	}
	return true;
}

static uint32_t guess_with(const uint8_t *payload, size_t len, const struct swap_layout *layout,
			   uint32_t device_nr)
{
	const struct swap_message *message = swap_message_find(SWAP_MSG_SYSTEM);
	struct swap_values values = { 0 };
	struct swap_layout tried = { .time_form = layout->time_form, .device_nr = device_nr };
	uint32_t cpu_nr = 0;

	for (tried.cpu_nr = 1; cpu_nr == 0 && tried.cpu_nr <= CPUS_MAX; tried.cpu_nr++) {
		if (tried.cpu_nr * UINT64_C(8) > len)
			break;
		if (swap_decode(message, payload, len, &tried, &values) == 0 &&
		    loads_are_sane(&values))
			cpu_nr = tried.cpu_nr;
	}
	ftr_vec_fini(&values.all);
	return cpu_nr;
}

/* The programs that there were had three devices, or five. */
uint32_t swap_cpus_guess(const uint8_t *payload, size_t len, const struct swap_layout *layout)
{
	static const uint32_t device_nrs[] = { 3, 5, UINT32_MAX };
	uint32_t cpu_nr = 0;

	for (size_t i = 0; cpu_nr == 0 && i < sizeof(device_nrs) / sizeof(device_nrs[0]); i++)
		cpu_nr = guess_with(payload, len, layout, device_nrs[i]);
	return cpu_nr;
}
