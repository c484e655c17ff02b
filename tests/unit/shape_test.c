/* SPDX-License-Identifier: MIT */
/* Words of shapes, and the text that bytes are by them. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/trace/args.h"
#include "utils/trace/shape.h"

static const struct ftr_arg_enumerator colors[] = { { "GREEN", 5 }, { "RED", 1 } };
static const struct ftr_arg_enum color = { "color", colors, 2 };

static const struct ftr_arg_enum *find_enum(const void *arg, struct ftr_slice name)
{
	return ftr_slice_eq(name, "color") ? &color : NULL;
}

static int parse(const struct ftr_shape **shape, const char *words, struct ftr_arena *arena)
{
	return ftr_shape_parse(shape, ftr_slice_make(words, strlen(words)), arena, find_enum, NULL);
}

static void put(const struct ftr_shape *shape, const void *bytes, size_t len,
		struct ftr_strbuf *text)
{
	uint8_t *exact = malloc(len == 0 ? 1 : len);	/* nothing behind it is looked at */

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	ftr_strbuf_clear(text);
	ftr_shape_format(shape, exact, len, NULL, NULL, text);
	free(exact);
}

static void expect_bytes(const char *words, const void *bytes, size_t len, const char *text)
{
	const struct ftr_shape *shape;
	struct ftr_arena arena;
	struct ftr_strbuf got;

	ftr_arena_init(&arena);
	ftr_strbuf_init(&got);
	assert_int_equal(parse(&shape, words, &arena), 0);
	put(shape, bytes, len, &got);
	assert_string_equal(ftr_strbuf_str(&got), text);
	for (size_t cut = 0; cut < len; cut++)
		put(shape, bytes, cut, &got);
	ftr_strbuf_fini(&got);
	ftr_arena_fini(&arena);
}

#define EXPECT(words, bytes, text) expect_bytes(words, bytes, sizeof(bytes) - 1, text)

static void test_scalars(void **state)
{
	EXPECT("i8", "\xff", "-1");
	EXPECT("u16", "\xff\xff", "65535");
	EXPECT("x32", "\x10\0\0\0", "0x10");
	EXPECT("c8", "a", "'a'");
	EXPECT("b8", "\1", "true");
	EXPECT("f32", "\0\0\xc0\x3f", "1.500000");
	EXPECT("p64", "\x10\0\0\0\0\0\0\0", "0x10");
	EXPECT("e32:color", "\5\0\0\0", "GREEN");
	EXPECT("e32:other", "\5\0\0\0", "5");
	EXPECT("t3", "abc", "{...}");
	EXPECT("i32", "\1\0\0", "...");
	EXPECT("u32.3+7", "\x68\2\0\0", "77");
	EXPECT("i32.2+4", "\x34", "-3");
	EXPECT("u64.7+57", "\x80\0\0\0\0\0\0\x80", "72057594037927937");
}

#define ZEROS "\0\0\0\0\0\0\0"

static void test_wide(void **state)
{
	static const uint8_t none[16], all[16] = { [0 ... 15] = 0xff }, min[16] = { [15] = 0x80 };

	expect_bytes("i128", none, 16, "0");
	expect_bytes("i128", all, 16, "-1");
	expect_bytes("i128", min, 16, "-170141183460469231731687303715884105728");
	expect_bytes("u128", min, 16, "170141183460469231731687303715884105728");
	expect_bytes("u128", all, 16, "340282366920938463463374607431768211455");
	expect_bytes("x128", all, 16, "0xffffffffffffffffffffffffffffffff");
	EXPECT("x128", "\1" ZEROS "\1" ZEROS, "0x10000000000000001");
	EXPECT("x128", "\x10" ZEROS "\0" ZEROS, "0x10");
	expect_bytes("x128", none, 16, "0");
	expect_bytes("i128", all, 15, "...");
	EXPECT("{a:0:u8,b:16:[1x16]i128}", "\1" ZEROS "\0" ZEROS "\xfe\xff\xff\xff\xff\xff\xff\xff"
	       "\xff\xff\xff\xff\xff\xff\xff\xff", "{.a = 1, .b = {-2}}");
}

static void test_complex(void **state)
{
	const float narrow[] = { 1.5f, -0.0f };
	const double middle[] = { -2.25, __builtin_inf() };

	expect_bytes("z64", narrow, 8, "1.500000-0.000000i");
	expect_bytes("z64", narrow, 7, "...");
	expect_bytes("z128", middle, 16, "-2.250000+infi");
	EXPECT("z256", ZEROS "\x80\xff\x3f\1\2\3\4\5\6" ZEROS "\xc0\0\xc0\1\2\3\4\5\6",
	       "1.000000-3.000000i");
	EXPECT("z192", ZEROS "\x80\xff\x3f\1\2" ZEROS "\xc0\0\xc0\1\2", "1.000000-3.000000i");
}

static void test_parts(void **state)
{
	EXPECT("{}", "", "{}");
	EXPECT("{x:0:i8,y:1:u8}", "\xff\xff", "{.x = -1, .y = 255}");
	EXPECT("{x:0:i8,y:2:u8,z:3:i8}", "\1\2", "{.x = 1, ...}");
	EXPECT("{x:0:i8,:1:{u:0:i8,v:0:x8}}", "\1\2", "{.x = 1, {.u = 2, .v = 0x2}}");
	EXPECT("[3x2]i16", "\1\0\2\0\3\0", "{1, 2, 3}");
	EXPECT("[3x2]i16", "\1\0\2\0\3", "{1, 2, ...}");
	EXPECT("[2x2][2x1]u8", "\1\2\3\4", "{{1, 2}, {3, 4}}");
	EXPECT("[17x1]u8", "01234567890123456",
	       "{48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 48, 49, 50, 51, 52, 53, ...}");
	EXPECT("[65535x0]u8", "1", "{49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, 49, ...}");
	EXPECT("a4", "ab\n\0", "\"ab\\n\"");
	EXPECT("a2", "abcd", "\"ab\"");
}

static void test_pointers(void **state)
{
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\4\0\0\0\7\0\0\0", "&7");
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\3\0\0\0\7\0\0\0", "&...");
	EXPECT("*4>8i32", "\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "0x10");
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\7\0\0\0", "&7");
	EXPECT("*4>8i32", "\1\0\0\0\0\0\0\0\4\0\0\0", "...");
	EXPECT("{s:0:s0>8+4}", "\1\0\0\0\0\0\0\0a..\0", "{.s = \"a..\"}");
	EXPECT("s0>8+4", "\0\0\0\0\0\0\0\0abc\0", "NULL");
	EXPECT("s0>8+4", "\1\0\0\0\0\0\0\0abc", "...");
	EXPECT("s>8+4", "\0\0\0\0\0\0\0\0abc\0", "\"abc\"");
	EXPECT("s>8+4", "\0\0\0\0\0\0\0\0\0\0\0\0", "\"\"");
	EXPECT("*9>9{p:0:*1>9u8}", "\1\0\0\0\0\0\0\0-\x7\0\0\0\2\0\0\0\0\0\0\0-\1\0\0\0\3",
	       "&{.p = ...}");
	EXPECT("*9>9{p:0:*1>9u8}", "\1\0\0\0\0\0\0\0-\x9\0\0\0\2\0\0\0\0\0\0\0-\1\0\0\0\3",
	       "&{.p = &3}");
}

static void test_lists(void **state)
{
	/* A pointer behind the last, the first, of 2 bytes; 4 bytes of two elements. */
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[2]{1, 2}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x12\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[1]{1}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[0]{}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "[4]{1, 2, ...}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\2\0\0\0\1\0\2\0", "[2]{1, ...}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\xff\xff\xff\xff\1\0\2\0", "[2]{1, 2}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\4\0\0\0\1\0", "[2]{...}");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x13\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "...");
	EXPECT("n8-0x2>16+4i16", "\x10\0\0\0\0\0\0\0\x0e\0\0\0\0\0\0\0\4\0\0\0\1\0\2\0", "...");
	EXPECT("n0@8x1>16+1u8", "\1\0\0\0\0\0\0\0-\0\0\0\0\0\0\0\1\0\0\0\7", "[1]{7}");
	EXPECT("n0@0x0>8+0t0", "\3\0\0\0\0\0\0\0", "[3]{...}");
	/* A sum of members: (3 * 4 + 2 - 6) / 2. */
	EXPECT("n=2+8.2*4+10.1*1-11.2*2@0x1>13+4u8", "--------\3\0\2\3\0\4\0\0\0\1\2\3\4",
	       "[4]{1, 2, 3, 4}");
	EXPECT("n=3+8.2*4+10.1*1-11.2*2@0x1>13+4u8", "--------\3\0\2\3\0\4\0\0\0\1\2\3\4",
	       "...");
	EXPECT("n=2+8.2*4+10.1*1-11.2*2@0x1>13+4u8", "--------\0\0\2\3\0\4\0\0\0\1\2\3\4",
	       "...");				/* less than none */
	EXPECT("n=1@0x1>8+4u8", "--------\4\0\0\0\1\2\3\4", "[0]{}");
	EXPECT("n=1+9.8*1@0x0>8+0t0", "--------\4\0\0\0", "...");
}

static void test_open_lists(void **state)
{
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\x80\1\0\2\0", "[2]{1, 2}");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\0\1\0\2\0", "[...]{1, 2, ...}");
	EXPECT("n?0x2>8+4i16", "--------\2\0\0\x80\1\0\2\0", "[1]{1}");
	EXPECT("n?0x2>8+4i16", "--------\0\0\0\x80\1\0\2\0", "[0]{}");
	EXPECT("n?0x2>8+4i16", "--------\0\0\0\0\1\0\2\0", "[...]{...}");
	EXPECT("n?0x2>8+4i16", "--------\xff\0\0\x80\1\0\2\0", "[2]{1, 2}");
	EXPECT("n?0x2>8+0i16", "--------", "[...]{...}");
	EXPECT("n?0x2>8+4i16", "--------\4\0\0\x80\1\0", "[...]{...}");
}

static void test_bits(void **state)
{
	EXPECT("n0@8x0>16+2b8", "\12\0\0\0\0\0\0\0--------\2\0\0\0\5\2",
	       "[10]{true, false, true, false, false, false, false, false, false, true}");
	EXPECT("n0@8x0>16+2u8", "\12\0\0\0\0\0\0\0--------\1\0\0\0\5\2",
	       "[10]{1, 0, 1, 0, 0, 0, 0, 0, ...}");
	EXPECT("n0@8x0>16+2b8", "\12\0\0\0\0\0\0\0--------\0\0\0\0\5\2", "[10]{...}");
	EXPECT("n0@0x0>8+0t0", "\0\0\0\0\0\0\0\0", "[0]{}");
	EXPECT("n0@0x0>8+0t0", "\3\0\0\0\0\0\0", "...");
	EXPECT("n0@8x8>16+8s0>8+8",
	       "\1\0\0\0\0\0\0\0-\0\0\0\0\0\0\0\10\0\0\0\1\0\0\0\0\0\0\0text\0\0\0\0",
	       "[1]{\"text\"}");
}

static void test_variants(void **state)
{
	EXPECT("|0+1{0=None,1=Some:0:{__0:1:u8,__1:2:|1+1{5=Five}}}", "\1\2\3\5", "Some(2, Five)");
	EXPECT("|0+1{1=Some:0:{named:1:u8}}", "\1\2", "Some{.named = 2}");
	EXPECT("@2u8", "\1\2\3", "3");
	EXPECT("@2u8", "\1\2", "...");
	EXPECT("|1+1{0=nullopt,=:0:u8}", "\5\1", "5");
	EXPECT("|1+1{0=nullopt,=:0:u8}", "\5\0", "nullopt");
	EXPECT("|0+1{=Other:1:{__0:0:u8},3=Three}", "\3\1", "Three");
	EXPECT("|0+1{=Other:1:{__0:0:u8},3=Three}", "\4\1", "Other(1)");
	EXPECT("|0+1{3=Three:0:{x:1:u8}}", "\3\1", "Three{.x = 1}");
	EXPECT("|0+1{3=Three}", "\4", "...");
	EXPECT("|0+8{3=Three}", "\3", "...");
	EXPECT("|0+1{}", "\3", "...");
	EXPECT("{__0:0:u8,__1:1:u8,__x:2:u8}", "\1\2\3", "{1, 2, .__x = 3}");
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"", "i", "i7", "u136", "c128", "f128", "z", "z32", "z320", "z0", "z63", "u128.1+3", "i88", "q8", "i32x", "{", "{x}", "{x:}", "{x:0}", "{x:0:}", "{x:0:i8",
		"{x:0:i8,}", "{x:65536:i8}", "[", "[3]i8", "[3x]i8", "[3x1]", "*", "*4>i32", "*4>8",
		"*4i32", "s", "s0>8", "s0>+1", "s>", "s>8", "a", "u8.1", "u8.1+0", "u8.60+5", "u8.1+", "t",
		"@", "@1", "n", "n0", "n0@", "n0@0x", "n0@0x0>8+", "n0@0x0>8+1u16", "n0@0x0>8+1u8.0+1", "n0@0x0>8+1{}", "n?", "n?0x0>8+0t0", "n?0x0>8+1b8",
		"n=", "n=1", "n=0@0x1>8+0t0", "n=1@", "n=1+@0x1>8+0t0", "n=1+0@0x1>8+0t0", "n=1+0.0*1@0x1>8+0t0",
		"n=1+0.9*1@0x1>8+0t0", "n=1+0.8*@0x1>8+0t0", "n=1*0.8*1@0x1>8+0t0",
		"n=1+0.1*1+0.1*1+0.1*1+0.1*1+0.1*1+0.1*1+0.1*1@0x1>8+0t0", "n0-0x0>8+0u8", "n0@0x1>8+1",
		"|", "|0", "|0+0{}", "|0+9{}", "|0+1", "|0+1{", "|0+1{x=A}", "|0+1{1=A", "|0+1{1=A:0}", "|0+1{1=A:0:}",
		"|0+1{1}", "|0+1{1=A,}",
	};
	const struct ftr_shape *shape;
	struct ftr_arena arena;
	char deep[3000];

	ftr_arena_init(&arena);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(&shape, bad[i], &arena) != -EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
	}
	for (size_t i = 0; i + 5 < sizeof(deep); i += 5)
		memcpy(deep + i, "[1x1]", 6);
	assert_int_equal(parse(&shape, deep, &arena), -EINVAL);
	ftr_arena_fini(&arena);
}

static const char *renamed(void *arg, const struct ftr_arg_enum *values)
{
	assert_ptr_equal(values, &color);
	return arg;
}

/* What is read is what can be written, but for the names of enumerations. */
static void test_words(void **state)
{
	static const struct {
		const char *words, *written;
	} rows[] = {
		{ "{a:0:e32:color,b:4:[2x4]e32:color,c:12:e32:other,d:16:e32}",
		  "{a:0:e32:color_2,b:4:[2x4]e32:color_2,c:12:e32:,d:16:e32}" },
		{ "n16@8x0>24+8e8:color", "n16@8x0>24+8e8:color_2" },
		{ "{color:0:i32,e32:4:e32:color.0+3}", "{color:0:i32,e32:4:e32:color_2.0+3}" },
		{ "*4>8s0>8+32", "*4>8s0>8+32" },
	};
	const struct ftr_shape *shape;
	struct ftr_strbuf words;
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	ftr_strbuf_init(&words);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ftr_strbuf_clear(&words);
		if (parse(&shape, rows[i].words, &arena) < 0)
			fail_msg("\"%s\" is refused", rows[i].words);
		assert_int_equal(ftr_shape_words(shape, renamed, "color_2", &words), 0);
		assert_string_equal(ftr_strbuf_str(&words), rows[i].written);
		assert_int_equal(parse(&shape, rows[i].written, &arena), 0);
	}
	ftr_strbuf_fini(&words);
	ftr_arena_fini(&arena);
}

static int take_pointer(void *arg, size_t at, uint64_t pointer)
{
	ftr_strbuf_printf(arg, " %zu:%llx", at, (unsigned long long)pointer);
	return pointer == 9 ? -1 : 0;
}

static void test_code(void **state)
{
	static const struct {
		const char *words, *seen;
		int ret;
	} rows[] = {
		{ "{a:0:i64,f:8:p64}", " 8:5", 0 },
		{ "*16>4{a:0:i64,f:8:p64}", "", 0 },
		{ "[3x8]p64", " 0:4 8:5 16:9", -1 },
		{ "{c:16:p64,a:0:p64}", " 16:9", -1 },
		{ "{a:0:i64,b:8:x64}", "", 0 },
		{ "{a:0:p32}", "", 0 },
	};
	const uint8_t bytes[24] = { 4, [8] = 5, [16] = 9 };
	const struct ftr_shape *shape;
	struct ftr_strbuf seen;
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	ftr_strbuf_init(&seen);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ftr_strbuf_clear(&seen);
		assert_int_equal(parse(&shape, rows[i].words, &arena), 0);
		assert_int_equal(ftr_shape_pointers(shape, bytes, sizeof(bytes), take_pointer,
						    &seen), rows[i].ret);
		assert_string_equal(ftr_strbuf_str(&seen), rows[i].seen);
	}
	ftr_strbuf_fini(&seen);
	ftr_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_complex),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_open_lists),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
