/* SPDX-License-Identifier: MIT */
/* What is printed for a terminal becomes a page, however it is cut into pieces. */
#include "tests/unit/unit.h"

#include <string.h>

#include "utils/base/color.h"
#include "utils/view/html_text.h"

#define PRE "<body>\n<pre>\n"

/* The page's text when @text comes in pieces of @piece bytes. */
static void page_is(const char *text, size_t len, size_t piece, const char *expected)
{
	struct ftr_html_text html;
	struct ftr_ostream out;
	struct ftr_err err;
	const char *pre;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	ftr_html_text_begin(&html, &out, "a<b>&c");
	for (size_t at = 0; at < len; at += piece)
		ftr_html_text_put(&html, text + at, at + piece < len ? piece : len - at);
	ftr_html_text_end(&html);
	ftr_ostream_putc(&out, '\0');
	assert_memory_equal(out.buf, "<!DOCTYPE html>\n", 16);
	assert_non_null(strstr(out.buf, "<title>a&lt;b&gt;&amp;c</title>"));
	pre = strstr(out.buf, PRE);
	assert_non_null(pre);
	assert_memory_equal(pre + strlen(PRE), expected, strlen(expected));
	assert_string_equal(pre + strlen(PRE) + strlen(expected), "</pre>\n</body>\n</html>\n");
	assert_int_equal(ftr_ostream_close(&out, &err), 0);
}

static void all_pieces(const char *text, size_t len, const char *expected)
{
	for (size_t piece = 1; piece <= len; piece++)
		page_is(text, len, piece, expected);
}

static void test_text(void **state)
{
	static const char text[] = "f(\"<&>\") {\n\tä\x01\0}\n";

	all_pieces(text, sizeof(text) - 1, "f(\"&lt;&amp;&gt;\") {\n\tä}\n");
	page_is("", 0, 1, "");
}

static void test_colors(void **state)
{
	static const char text[] = FTR_SGR_CYAN "f" FTR_SGR_RESET "() " FTR_SGR_BOLD FTR_SGR_RED
				   "<" FTR_SGR_RESET FTR_SGR_RESET FTR_SGR_GRAY "end";

	all_pieces(text, sizeof(text) - 1,
		   "<span class=cyan>f</span>() <span class=bold><span class=red>&lt;</span></span>"
		   "<span class=gray>end</span>");
}

/* Of a terminal, but none of ours; and one that does not end. */
static void test_other_sequences(void **state)
{
	static const char text[] = "a\033[2Jb\033[38;5;1234567890123456mc\033(d\033[1";

	all_pieces(text, sizeof(text) - 1, "abcd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_other_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
