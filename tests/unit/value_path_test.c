/* SPDX-License-Identifier: MIT */
/* Paths: their grammar, and what they lead to in values of all shapes. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "utils/trace/shape.h"
#include "utils/trace/value_path.h"

static const struct ftr_arg_enumerator colors[] = { { "GREEN", 5 }, { "RED", 1 } };
static const struct ftr_arg_enum color = { "color", colors, 2 };

static const struct ftr_arg_enum *find_enum(const void *arg, struct ftr_slice name)
{
	return ftr_slice_eq(name, "color") ? &color : NULL;
}

/* The text of what the path leads to; "-" = nowhere. */
static void put(const struct ftr_shape *shape, const void *bytes, size_t len, const char *text,
		struct ftr_strbuf *got)
{
	const struct ftr_arg whole_type = { .format = FTR_ARG_STRUCT, .shape = shape };
	uint8_t *exact = malloc(len == 0 ? 1 : len);	/* nothing behind it is looked at */
	struct ftr_value whole = { .arg = &whole_type }, value;
	struct ftr_value_path path;
	struct ftr_arg type;
	size_t end;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	whole.str.s = (const char *)exact;
	whole.str.len = (uint16_t)len;
	assert_null(ftr_value_path_parse(&path, text, &end));
	assert_int_equal(end, strlen(text));
	ftr_strbuf_clear(got);
	if (ftr_value_path_find(&path, &whole, &type, &value))
		ftr_value_format(&value, NULL, NULL, got);
	else
		ftr_strbuf_putc(got, '-');
	free(exact);
}

static void expect(const char *words, const void *bytes, size_t len, const char *path,
		   const char *text)
{
	const struct ftr_shape *shape;
	struct ftr_arena arena;
	struct ftr_strbuf got;

	ftr_arena_init(&arena);
	ftr_strbuf_init(&got);
	assert_int_equal(ftr_shape_parse(&shape, ftr_slice_make(words, strlen(words)), &arena,
					 find_enum, NULL), 0);
	put(shape, bytes, len, path, &got);
	if (strcmp(ftr_strbuf_str(&got), text) != 0)
		fail_msg("%s of %s is %s, not %s", path, words, ftr_strbuf_str(&got), text);
	for (size_t cut = 0; cut < len; cut++)
		put(shape, bytes, cut, path, &got);
	ftr_strbuf_fini(&got);
	ftr_arena_fini(&arena);
}

#define EXPECT(words, bytes, path, text) expect(words, bytes, sizeof(bytes) - 1, path, text)

static void test_members(void **state)
{
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xfe", ".x", "-1");
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xfe", "->y", "254");
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xfe", ".z", "-");
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xfe", ".x.y", "-");
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xfe", "[0]", "-");
	EXPECT("{x:0:i8,:1:{u:0:i8,v:1:e8:color}}", "\1\2\5", ".v", "GREEN");
	EXPECT("{x:0:{y:0:{z:1:u8}}}", "\1\7", ".x.y.z", "7");
	EXPECT("{x:0:{y:0:{z:1:u8}}}", "\1\7", ".x.y", "{.z = 7}");
	EXPECT("{x:0:u8.1+3}", "\xa", ".x", "5");
	EXPECT("{x:0:a4}", "ab\0\0", ".x", "\"ab\"");
	EXPECT("{__0:0:u8,__1:1:u8}", "\1\2", ".1", "2");
	EXPECT("{x:0:i8,y:2:u8}", "\1\2", ".y", "-");
}

static void test_elements(void **state)
{
	EXPECT("[3x2]i16", "\1\0\2\0\3\0", "[2]", "3");
	EXPECT("[3x2]i16", "\1\0\2\0\3\0", "[3]", "-");
	EXPECT("[2x2][2x1]u8", "\1\2\3\4", "[1][0]", "3");
	EXPECT("[2x2]{x:1:u8}", "\1\2\3\4", "[1].x", "4");
	/* A pointer behind the last, the first, of 2 bytes; 4 bytes of elements. */
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[1]", "2");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[2]", "-");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", ".size", "4");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x12\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[1]", "-");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\2\0\0\0\1\0\2\0", "[1]", "-");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x13\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", ".size", "-");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", ".size.x", "-");
	EXPECT("n0@0x0>8+0t0", "\3\0\0\0\0\0\0\0", ".size", "3");
	EXPECT("n0@0x0>8+0t0", "\3\0\0\0\0\0\0\0", "[0]", "-");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\x80\1\0\2\0", ".size", "2");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\x80\1\0\2\0", "[1]", "2");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\x80\1\0\2\0", "[2]", "-");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\0\1\0\2\0", ".size", "-");
	EXPECT("n0@8x0>16+2u8", "\12\0\0\0\0\0\0\0--------\2\0\0\0\5\2", "[9]", "1");
	EXPECT("n0@8x0>16+2u8", "\12\0\0\0\0\0\0\0--------\2\0\0\0\5\2", "[8]", "0");
	EXPECT("n0@8x0>16+2u8", "\12\0\0\0\0\0\0\0--------\2\0\0\0\5\2", "[10]", "-");
	EXPECT("n0@8x0>16+2u8", "\12\0\0\0\0\0\0\0--------\1\0\0\0\5\2", "[8]", "-");
	EXPECT("{size:0:u8}", "\3", ".size", "3");
	EXPECT("@2{x:0:u8}", "\1\2\3", ".x", "3");
}

static void test_pointers(void **state)
{
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\0\0", "[0]", "7");
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\0\0", "[1]", "-");
	EXPECT("*4>8{x:0:i32}", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\0\0", "->x", "7");
	EXPECT("*4>8{x:0:i32}", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\0\0", "[0].x", "7");
	EXPECT("*4>8{x:0:i32}", "\1\0\0\0\0\0\0\0\3\0\0\0\7\0\0\0", "->x", "-");
	EXPECT("*4>8{x:0:i32}", "\1\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0", "->x", "-");
	EXPECT("*4>8{x:0:{y:0:i32}}", "\1\0\0\0\0\0\0\0\3\0\0\0\7\0\0\0", "->x", "-");
	EXPECT("*4>8[2x2]i16", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\x8\0", "[1]", "8");
	EXPECT("*9>9{p:0:*1>9{y:0:u8}}",
	       "\1\0\0\0\0\0\0\0-\x9\0\0\0\2\0\0\0\0\0\0\0-\1\0\0\0\3", "->p->y", "3");
	EXPECT("*9>9{p:0:*1>9{y:0:u8}}",
	       "\1\0\0\0\0\0\0\0-\x9\0\0\0\2\0\0\0\0\0\0\0-\1\0\0\0\3", ".p", "0x2");
	EXPECT("{s:0:s0>8+4}", "\1\0\0\0\0\0\0\0a..\0", ".s", "\"a..\"");
	EXPECT("{s:0:s0>8+4}", "\0\0\0\0\0\0\0\0a..\0", ".s", "NULL");
	EXPECT("{s:0:s0>8+4}", "\1\0\0\0\0\0\0\0a..", ".s", "-");
}

static void test_variants(void **state)
{
	EXPECT("|0+1{=Other:1:{x:0:u8},3=Three}", "\4\1", ".Other.x", "1");
	EXPECT("|0+1{=Other:1:{x:0:u8},3=Three}", "\3\1", ".Other.x", "-");
	EXPECT("|0+1{=Other:1:{x:0:u8},3=Three}", "\3\1", ".Three", "-");
	EXPECT("|1+1{0=None,=Some:0:u8}", "\5\1", ".Some", "5");
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} bad[] = {
		{ ".", 1 }, { "->", 2 }, { "[", 1 }, { "[x]", 1 }, { "[1", 1 }, { "[65536]", 1 },
		{ ".x[]", 3 }, { ".x..", 3 }, { "[-1]", 1 }, { ".a.b.c.d.e.f.g.h.i", 16 },
	};
	struct ftr_value_path path;
	size_t at;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (ftr_value_path_parse(&path, bad[i].text, &at) == NULL || at != bad[i].at)
			fail_msg("%s: %zu", bad[i].text, at);
	}
	assert_null(ftr_value_path_parse(&path, " > 3", &at));
	assert_int_equal(at, 0);
	assert_null(ftr_value_path_parse(&path, ".x-1", &at));
	assert_int_equal(at, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members), cmocka_unit_test(test_elements),
		cmocka_unit_test(test_pointers), cmocka_unit_test(test_variants),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
