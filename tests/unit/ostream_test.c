/* SPDX-License-Identifier: MIT */
/* Output streams: formatting against printf, JSON strings, and descriptors that fail. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/ostream.h"

static void expect_text(struct ftr_ostream *out, const char *text)
{
	assert_int_equal(out->len, strlen(text));
	assert_memory_equal(out->buf, text, out->len);
	out->len = 0;
}

static void numbers_as_printf(void **state)
{
	struct ftr_ostream out;
	char text[64];

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	for (unsigned shift = 0; shift < 64; shift++) {
		for (int delta = -11; delta <= 11; delta++) {
			uint64_t value = (UINT64_C(1) << shift) + (uint64_t)(int64_t)delta;

			ftr_ostream_u64(&out, value);
			snprintf(text, sizeof(text), "%" PRIu64, value);
			expect_text(&out, text);
			ftr_ostream_u64_width(&out, value, 12, ' ');
			snprintf(text, sizeof(text), "%12" PRIu64, value);
			expect_text(&out, text);
			ftr_ostream_u64_width(&out, value, 9, '0');
			snprintf(text, sizeof(text), "%09" PRIu64, value);
			expect_text(&out, text);
			ftr_ostream_hex(&out, value);
			snprintf(text, sizeof(text), "%" PRIx64, value);
			expect_text(&out, text);
		}
	}
	ftr_ostream_close(&out, NULL);
}

static void powers_of_ten(void **state)
{
	char text[24];
	char expected[24];

	uint64_t value = 1;

	for (int power = 0; power < 20; power++, value *= 10) {
		for (uint64_t v = value - 1; v <= value; v++) {
			*ftr_fmt_u64(text, v) = '\0';
			snprintf(expected, sizeof(expected), "%" PRIu64, v);
			assert_string_equal(text, expected);
		}
	}
}

static void hexadecimal_has_so_many_digits(void **state)
{
	char text[24];
	char expected[24];

	for (unsigned bits = 0; bits < 64; bits++) {
		for (unsigned digits = 1; digits <= 16; digits++) {
			uint64_t value = (UINT64_C(1) << bits) - (bits & 1);

			*ftr_fmt_hex_wide(text, value, digits) = '\0';
			snprintf(expected, sizeof(expected), "%0*" PRIx64, (int)digits, value);
			assert_string_equal(text, expected);
		}
	}
	*ftr_fmt_hex_wide(text, 0, 1) = '\0';
	assert_string_equal(text, "0");
}

static void fixed_keeps_the_last_digits(void **state)
{
	char text[24];

	*ftr_fmt_fixed(text, 7, 3, '0') = '\0';
	assert_string_equal(text, "007");
	*ftr_fmt_fixed(text, 123456, 3, ' ') = '\0';
	assert_string_equal(text, "456");
	*ftr_fmt_fixed(text, UINT64_MAX, 20, ' ') = '\0';
	assert_string_equal(text, "18446744073709551615");
	*ftr_fmt_fixed(text, 0, 2, ' ') = '\0';
	assert_string_equal(text, " 0");
}

static void texts(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_ostream_puts(&out, "a");
	ftr_ostream_putc(&out, 'b');
	ftr_ostream_pad(&out, '-', 3);
	ftr_ostream_pad(&out, '-', 0);
	ftr_ostream_write(&out, "cde", 2);
	ftr_ostream_write(&out, NULL, 0);
	ftr_ostream_printf(&out, "%s%d", "x", 5);
	expect_text(&out, "ab---cdx5");
	ftr_ostream_pad(&out, '.', 100000);
	assert_int_equal(out.len, 100000);
	out.len = 0;
	ftr_ostream_printf(&out, "%*d", 9000, 1);
	assert_int_equal(out.len, 9000);
	assert_int_equal(out.buf[8999], '1');
	ftr_ostream_close(&out, NULL);
}

static const struct json_case {
	const char *in;
	size_t len;
	const char *out;
} json_cases[] = {
#define CASE(in, out) { in, sizeof(in) - 1, "\"" out "\"" }
	CASE("", ""),
	CASE("plain ascii text, long enough", "plain ascii text, long enough"),
	CASE("\"", "\\\""),
	CASE("12345678\"", "12345678\\\""),
	CASE("a\\b", "a\\\\b"),
	CASE("\b\f\n\r\t", "\\b\\f\\n\\r\\t"),
	CASE("\x00\x01\x1f\x7f", "\\u0000\\u0001\\u001f\x7f"),
	CASE("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
	CASE("\xff", "\xef\xbf\xbd"),
	CASE("a\x80z", "a\xef\xbf\xbdz"),
	CASE("\xc3", "\xef\xbf\xbd"),					/* cut off */
	CASE("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"),
	CASE("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"),			/* overlong */
	CASE("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"),	/* surrogate */
	CASE("\xc3(", "\xef\xbf\xbd("),
#undef CASE
};

static void json_strings(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	for (size_t i = 0; i < sizeof(json_cases) / sizeof(json_cases[0]); i++) {
		ftr_ostream_json_string(&out, json_cases[i].in, json_cases[i].len);
		expect_text(&out, json_cases[i].out);
	}
	ftr_ostream_close(&out, NULL);
}

/* Each byte at each place of a word: the fast scan must stop exactly where the slow one would. */
static void json_scan_stops_at_every_special(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	for (unsigned c = 0; c < 256; c++) {
		bool is_plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';

		for (size_t at = 0; at < 20; at++) {
			char text[20];

			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			ftr_ostream_json_string(&out, text, sizeof(text));
			assert_int_equal(out.len == sizeof(text) + 2, is_plain);
			out.len = 0;
		}
	}
	ftr_ostream_close(&out, NULL);
}

static void large_json_strings(void **state)
{
	static char text[300000];
	struct ftr_ostream out;

	memset(text, '\1', sizeof(text));
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_ostream_json_string(&out, text, sizeof(text));
	assert_int_equal(out.len, sizeof(text) * 6 + 2);
	ftr_ostream_close(&out, NULL);
}

static void files_get_everything(void **state)
{
	char path[] = "/tmp/ftr-ostream-XXXXXX";
	static char block[500000];
	struct ftr_ostream out;
	struct stat st;
	FILE *file;

	close(mkstemp(path));
	assert_int_equal(ftr_ostream_open(&out, path, NULL), 0);
	for (unsigned i = 0; i < 200000; i++)
		ftr_ostream_u64_width(&out, i, 6, '0');
	memset(block, 'B', sizeof(block));
	ftr_ostream_write(&out, block, sizeof(block));		/* larger than the buffer */
	ftr_ostream_puts(&out, "end");
	assert_int_equal(ftr_ostream_flush(&out, NULL), 0);
	assert_int_equal(out.written, 200000 * 6 + sizeof(block) + 3);
	assert_int_equal(ftr_ostream_close(&out, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 200000 * 6 + sizeof(block) + 3);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(block, 1, sizeof(block), file), sizeof(block));
	fclose(file);
	assert_memory_equal(block + 123 * 6, "000123000124", 12);
	unlink(path);
}

static void open_failures_are_described(void **state)
{
	struct ftr_ostream out;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_ostream_open(&out, "/nonexistent/x", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/x: No such file or directory");
	ftr_ostream_close(&out, NULL);
}

static void full_disks_are_remembered(void **state)
{
	struct ftr_ostream out;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_ostream_open(&out, "/dev/full", NULL), 0);
	for (unsigned i = 0; i < 100000; i++)
		ftr_ostream_puts(&out, "text that goes nowhere, again and again\n");
	assert_int_equal(ftr_ostream_flush(&out, &err), -ENOSPC);
	assert_string_equal(err.text, "/dev/full: No space left on device");
	assert_non_null(ftr_ostream_reserve(&out, 4096));
	ftr_ostream_puts(&out, "more");
	err = (struct ftr_err){ 0 };
	assert_int_equal(ftr_ostream_close(&out, &err), -ENOSPC);
	assert_int_equal(err.code, ENOSPC);
}

static void closed_pipes_are_failures(void **state)
{
	struct ftr_ostream out;
	struct ftr_err err = { 0 };
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(ftr_ostream_from_fd(&out, fds[1], "pipe"), 0);
	ftr_ostream_puts(&out, "x");
	assert_int_equal(ftr_ostream_close(&out, &err), -EPIPE);
	assert_string_equal(err.text, "pipe: Broken pipe");
	close(fds[1]);		/* borrowed: still open */
}

struct slow_reader {
	int fd;
	size_t total;
};

static void *read_slowly(void *arg)
{
	struct slow_reader *reader = arg;
	char buf[3001];
	ssize_t nr;

	while ((nr = read(reader->fd, buf, sizeof(buf))) > 0)
		reader->total += (size_t)nr;
	return NULL;
}

/* Non-blocking: short writes and EAGAIN. */
static void busy_pipes_get_everything(void **state)
{
	struct slow_reader reader = { 0 };
	struct ftr_ostream out;
	pthread_t thread;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	reader.fd = fds[0];
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
	assert_int_equal(ftr_ostream_from_fd(&out, fds[1], "pipe"), 0);
	for (unsigned i = 0; i < 300000; i++)
		ftr_ostream_puts(&out, "0123456789");
	assert_int_equal(ftr_ostream_close(&out, NULL), 0);
	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
	assert_int_equal(reader.total, 3000000);
}

static void absurd_reserves_fail(void **state)
{
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_null(ftr_ostream_reserve(&out, SIZE_MAX));
	assert_int_equal(ftr_ostream_flush(&out, NULL), -ENOMEM);
	assert_non_null(ftr_ostream_reserve(&out, 4096));
	assert_int_equal(ftr_ostream_close(&out, NULL), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_as_printf),
		cmocka_unit_test(powers_of_ten),
		cmocka_unit_test(hexadecimal_has_so_many_digits),
		cmocka_unit_test(fixed_keeps_the_last_digits),
		cmocka_unit_test(texts),
		cmocka_unit_test(json_strings),
		cmocka_unit_test(json_scan_stops_at_every_special),
		cmocka_unit_test(large_json_strings),
		cmocka_unit_test(files_get_everything),
		cmocka_unit_test(open_failures_are_described),
		cmocka_unit_test(full_disks_are_remembered),
		cmocka_unit_test(closed_pipes_are_failures),
		cmocka_unit_test(busy_pipes_get_everything),
		cmocka_unit_test(absurd_reserves_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
