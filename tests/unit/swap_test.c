/* SPDX-License-Identifier: MIT */
/* SWAP messages: bytes to values to bytes and to text and back; what follows the table's rows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "utils/base/bytes.h"
#include "utils/base/istream.h"
#include "utils/format/swap/codec.h"

#define COMMON_FIELDS 10	/* of all messages of probes */

/* A file of the sources; its bytes are borrowed until it is closed. */
static void source_open(struct ftr_istream *in, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", srcdir == NULL ? "." : srcdir, name);
	assert_int_equal(ftr_istream_open(in, AT_FDCWD, path, NULL), 0);
}

/* What decodes is encoded to the same bytes, directly and by way of its text. */
static bool goes_round(const struct swap_message *message, const uint8_t *payload, size_t len)
{
	const struct swap_layout layout = { .cpu_nr = 2, .device_nr = UINT32_MAX };
	struct swap_values values = { 0 }, parsed = { 0 };
	struct ftr_strbuf bytes, text;
	bool is_decoded = swap_decode(message, payload, len, &layout, &values) == 0;
	char *room;

	ftr_strbuf_init(&bytes);
	ftr_strbuf_init(&text);
	if (is_decoded) {
		assert_int_equal(swap_encode(message, &values, &layout, &bytes), 0);
		assert_int_equal(bytes.len, len);
		assert_memory_equal(ftr_strbuf_str(&bytes), payload, len);
		swap_format(message, &values, &text);
		room = malloc(text.len + 1);
		assert_int_equal(swap_parse(message,
					    ftr_slice_make(ftr_strbuf_str(&text), text.len),
					    &parsed, room), 0);
		ftr_strbuf_clear(&bytes);
		assert_int_equal(swap_encode(message, &parsed, &layout, &bytes), 0);
		assert_int_equal(bytes.len, len);
		assert_memory_equal(ftr_strbuf_str(&bytes), payload, len);
		free(room);
	}
	ftr_vec_fini(&values.all);
	ftr_vec_fini(&parsed.all);
	ftr_strbuf_fini(&bytes);
	ftr_strbuf_fini(&text);
	return is_decoded;
}

/* The corpus has each message of the table; each of its bytes is changed in turn. */
static void every_message_goes_round(void **state)
{
	uint8_t changed[4096];
	unsigned message_nr = 0;
	struct ftr_istream in;

	source_open(&in, "tests/fuzz/corpus/swap/every-message.swap");
	for (size_t pos = 0; pos < in.size; message_nr++) {
		const uint8_t *payload = in.data + pos + SWAP_HEADER_BYTES;
		size_t len = ftr_get_u32(in.data + pos + 16, false);
		const struct swap_message *message =
			swap_message_find(ftr_get_u32(in.data + pos, false));

		assert_non_null(message);
		assert_true(goes_round(message, payload, len));
		assert_true(len < sizeof(changed));
		for (size_t i = 0; i < len; i++) {
			memcpy(changed, payload, len);
			changed[i] ^= (uint8_t)FTR_BIT(i % 8);
			goes_round(message, changed, len);
			goes_round(message, payload, i);
		}
		pos += SWAP_HEADER_BYTES + len;
	}
	assert_true(message_nr > 35);
	ftr_istream_close(&in);
}

static void times_have_two_forms(void **state)
{
	static const uint8_t document[] = { 1, 0, 0, 0, 2, 0, 0, 0 };
	uint8_t bytes[8];

	assert_int_equal(swap_time_ns(swap_time_get(document, SWAP_TIME_DOCUMENT)),
			 2 * SWAP_NS_PER_S + 1);
	assert_int_equal(swap_time_ns(swap_time_get(document, SWAP_TIME_LEGACY)),
			 SWAP_NS_PER_S + 2);
	swap_time_put(bytes, swap_time_of(2 * SWAP_NS_PER_S + 1), SWAP_TIME_DOCUMENT);
	assert_memory_equal(bytes, document, sizeof(bytes));
	swap_time_put(bytes, swap_time_of(SWAP_NS_PER_S + 2), SWAP_TIME_LEGACY);
	assert_memory_equal(bytes, document, sizeof(bytes));
}

static void how_many_cpus_is_found_out(void **state)
{
	const struct swap_layout layout = { .device_nr = UINT32_MAX };
	struct ftr_istream in;
	size_t pos = 0;

	source_open(&in, "tests/fuzz/corpus/swap/every-message.swap");
	while (ftr_get_u32(in.data + pos, false) != SWAP_MSG_SYSTEM)
		pos += SWAP_HEADER_BYTES + ftr_get_u32(in.data + pos + 16, false);
	assert_int_equal(swap_cpus_guess(in.data + pos + SWAP_HEADER_BYTES,
					 ftr_get_u32(in.data + pos + 16, false), &layout), 2);
	ftr_istream_close(&in);
}

/* ---- what stands elsewhere, too ---- */

static void put_row(struct ftr_strbuf *row, const struct swap_message *message)
{
	static const char *const kinds[] = { "u8", "u32", "u64", "u64", "float", "double", "time",
					     "text", "arg", "args", "list", "more",
					     "float per CPU", "u32 per device", "bytes", "rest" };
	uint32_t first = message->id >= SWAP_MSG_PROBE_MEMORY ? COMMON_FIELDS : 0;

	ftr_strbuf_printf(row, "| %04x | %s | %s | ", message->id, message->name, message->what);
	if (first > 0)
		ftr_strbuf_printf(row, "*common*%s", message->field_nr > first ? ", " : "");
	for (uint32_t i = first; i < message->field_nr; i++) {
		const struct swap_field *field = &message->fields[i];

		ftr_strbuf_printf(row, "`%s` %s", field->name, kinds[field->kind]);
		if (field->rows > 0)
			ftr_strbuf_printf(row, " of the next %u", field->rows);
		if (field->words != NULL)
			ftr_strbuf_printf(row, " (%s)", field->words);
		ftr_strbuf_printf(row, "%s%s", field->when != 0 ? " if selected" : "",
				  i + 1 < message->field_nr ? ", " : "");
	}
	ftr_strbuf_puts(row, " |\n");
}

static void expect_in(const struct ftr_istream *in, const struct ftr_strbuf *text)
{
	if (memmem(in->data, in->size, text->s, text->len) == NULL)
		fail_msg("%s lacks: %s", in->name, text->s);
}

static void document_and_dictionary_have_all_rows(void **state)
{
	const struct swap_message *message;
	struct ftr_istream doc, dict;
	struct ftr_strbuf row;
	size_t pos = 0;

	source_open(&doc, "doc/swap.md");
	source_open(&dict, "tests/fuzz/swap.dict");
	ftr_strbuf_init(&row);
	while ((message = swap_message_next(&pos)) != NULL) {
		ftr_strbuf_clear(&row);
		put_row(&row, message);
		expect_in(&doc, &row);
		ftr_strbuf_clear(&row);
		ftr_strbuf_printf(&row, "\"\\x%02x\\x%02x\\x00\\x00\"", message->id & 0xff,
				  message->id >> 8);
		expect_in(&dict, &row);
	}
	ftr_strbuf_fini(&row);
	ftr_istream_close(&doc);
	ftr_istream_close(&dict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_goes_round),
		cmocka_unit_test(times_have_two_forms),
		cmocka_unit_test(how_many_cpus_is_found_out),
		cmocka_unit_test(document_and_dictionary_have_all_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
