/* SPDX-License-Identifier: MIT */
/* From DWARF and from words to programs: places, sizes, and the words that readers get. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "tests/unit/object_util.h"
#include "utils/proto/record.h"
#include "utils/record/choice.h"
#include "utils/record/prototypes.h"
#include "utils/record/value_module.h"
#include "utils/trace/args.h"

/* What the compiler calls a _Complex double. */
#ifdef __clang__
#define COMPLEX "complex"
#else
#define COMPLEX "complex_double"
#endif

static const char c_source[] =
	"#define KEEP __attribute__((noinline, noipa))\n"
	"enum color { RED, GREEN = 5, BLUE = -9 };\n"
	"typedef enum { ONE, TWO } number;\n"
	"struct point { int x, y; };\n"
	"struct big { long a[5]; };\n"
	"struct mixed { long a; double d; };\n"
	"struct floats { float x, y, z; };\n"
	"struct packed { char c; long l; } __attribute__((packed));\n"
	"typedef struct { char c[3]; } tiny;\n"
	"typedef int bool_like; union u { int i; float f; };\n"
	"KEEP int integers(int a, long b, short c, char d, unsigned e, unsigned long f, int g,"
	" const char *s) { return a + b + c + d + e + f + g + s[0]; }\n"
	"KEEP double floats(float a, double b, long double c, int d) { return a + b + c + d; }\n"
	"KEEP struct point structs(struct point p, struct big b, struct mixed m, tiny t)"
	" { p.x += b.a[0] + m.a + t.c[0]; return p; }\n"
	"KEEP enum color enums(enum color c, number n, _Bool b, int (*f)(int))"
	" { return n && b && f ? c : RED; }\n"
	"KEEP const char *pointers(char **v, void *p, unsigned char c, union u u)"
	" { return v && p && c ? \"\" : (void *)(long)u.i; }\n"
	"KEEP long double variable(int n, ...) { return n; }\n"
	"KEEP float wide(__int128 i, _Complex double z, int *p)"
	" { return i + __real__ z + *p; }\n"
	"KEEP struct big in_memory(int i) { struct big b = { { i } }; return b; }\n"
	"KEEP void nothing(void) { __asm__ volatile(\"\"); }\n"
	"KEEP struct mixed both(struct floats f, struct packed p, int i)"
	" { struct mixed m = { p.l + i, f.x }; return m; }\n"
	"KEEP void many(double a, double b, double c, double d, double e, double f, double g,"
	" double h, double i, struct mixed m, int j, int k, int l, int n, int o, int p, int q)"
	" { __asm__ volatile(\"\" : : \"r\"(&i), \"r\"(&m)); }\n"
	"int main(void) { nothing(); return 0; }\n";

/* Of each function, as its block in NAME.dbg has them; the same at -O0 and -O2. */
static const struct expected {
	const char *name, *args, *retval;
} c_expected[] = {
	{ "integers", "arg1/i32,arg2/i64,arg3/i16,arg4/c,arg5/u32,arg6/u64,arg7/i32,arg8/s",
	  "retval/i32" },
	{ "floats", "fparg1/32,fparg2/64,fparg3/80%stack+1,arg1/i32", "retval/f64" },
	{ "structs", "arg1/t8:point,arg2/t40:big%stack+1,arg3/t16:mixed%RSI+XMM0,arg4/t3:tiny%RDX",
	  "retval/t8:point" },
	{ "enums", "arg1/e:color,arg2/e:number,arg3/e:bool,arg4/p", "retval/e:color" },
	{ "pointers", "arg1/p,arg2/p,arg3/u8,arg4/t4:u", "retval/s" },
	{ "variable", "arg1/i32", "retval/f80" },
	{ "wide", "arg1/t16:__int128%RDI+RSI,arg2/t16:" COMPLEX "%XMM0+XMM1,arg3/p",
	  "retval/f32" },
	{ "in_memory", "arg1/i32%RSI", "retval/t40:big" },
	{ "nothing", NULL, NULL },
	{ "both", "arg1/t12:floats%XMM0+XMM1,arg2/t9:packed%stack+1,arg3/i32%RDI",
	  "retval/t16:mixed" },
	{ "many", "fparg1/64,fparg2/64,fparg3/64,fparg4/64,fparg5/64,fparg6/64,fparg7/64,"
	  "fparg8/64,fparg9/64,arg1/t16:mixed%stack+2,arg2/i32%RDI,arg3/i32%RSI,arg4/i32%RDX,"
	  "arg5/i32%RCX,arg6/i32%R8,arg7/i32%R9,arg8/i32%stack+4", NULL },
};

static const char cxx_source[] =
	"#include <string>\n#include <string_view>\n"
	"#include <vector>\n"
	"#define KEEP __attribute__((noinline))\n"
	"enum class small : unsigned char { off, on };\n"
	"namespace n { enum color { red = 7 }; } namespace m { enum color { blue = 1 }; }\n"
	"struct empty {};\n"
	"struct object { object(int); object(const object &); virtual ~object(); int x;\n"
	"  int method(const std::string &s, small e) const; static int plain(int a); };\n"
	"KEEP object::object(int i) : x(i) {} object::object(const object &o) : x(o.x) {}\n"
	"object::~object() {}\n"
	"KEEP int object::method(const std::string &s, small e) const { return x + s.size() + (int)e; }\n"
	"KEEP int object::plain(int a) { return a; }\n"
	"KEEP std::string strings(std::string by_value, std::string *p, int n) { return by_value + *p; }\n"
	"KEEP object objects(object o, int n) { return o; }\n"
	"KEEP int vectors(const std::vector<int> &v, std::vector<int> w, empty e, int n)"
	" { return v.size() + w.size() + n; }\n"
	"KEEP int views(std::string_view v, const std::string_view *p, int n)"
	" { return v.size() + p->size() + n; }\n"
	"KEEP int colors(n::color a, m::color b) { return a + b; }\n"
	"KEEP int members(int object::*field, int (object::*f)(const std::string &, small) const, int n)"
	" { return n; }\n"
	"int main() { object o(1); return o.method(\"x\", small::on) + (int)strings(\"a\", nullptr, 1)"
	".size() + objects(o, 1).x + vectors({}, {}, {}, 1) + colors(n::red, m::blue) + views({}, nullptr, 1)"
	" + members(&object::x, &object::method, 1) + object::plain(1); }\n";

static const struct expected cxx_expected[] = {
	{ "_ZNK6object6methodERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE5small",
	  "arg1/p,arg2/S,arg3/e:small", "retval/i32" },
	{ "_ZN6object5plainEi", "arg1/i32", "retval/i32" },
	{ "_Z7stringsNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPS4_i",
	  "arg1/S%RSI,arg2/S%RDX,arg3/i32%RCX", "retval/S" },
	{ "_Z7objects6objecti", "arg1/t16:object%RSI,arg2/i32%RDX", "retval/t16:object" },
	{ "_Z7vectorsRKSt6vectorIiSaIiEES1_5emptyi", "arg1/p,arg2/t24:vector,arg3/t1:empty,"
	  "arg4/i32%RDX", "retval/i32" },
	{ "_Z5viewsSt17basic_string_viewIcSt11char_traitsIcEEPKS2_i", "arg1/s,arg2/s,arg3/i32%RCX",
	  "retval/i32" },
	{ "_Z6colorsN1n5colorEN1m5colorE", "arg1/e:color,arg2/e:color_2", "retval/i32" },
	{ "_Z7membersM6objectiMS_KFiRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE5smallEi",
	  "arg1/i64,arg2/t16%RSI+RDX,arg3/i32%RCX", "retval/i32" },
};

/* The text after @letter ": @" in the block of @name; NULL: there is no such line. */
static char *line_of(const char *text, const char *name, char letter)
{
	const char *at = text, *end;
	char head[300], mark[8];

	snprintf(head, sizeof(head), " %s\n", name);
	at = strstr(text, head);
	if (at == NULL)
		fail_msg("%s is missing in:\n%s", name, text);
	at += strlen(head);
	end = strstr(at, "F: ");
	snprintf(mark, sizeof(mark), "%c: @", letter);
	at = strstr(at, mark);
	if (at == NULL || (end != NULL && at > end))
		return NULL;
	return strndup(at + 4, strcspn(at + 4, "\n"));
}

static void expect_line(const char *text, const char *name, char letter, const char *words)
{
	char *line = line_of(text, name, letter);

	if (words == NULL)
		assert_null(line);
	else if (line == NULL)
		fail_msg("%s: no line %c", name, letter);
	else
		assert_string_equal(line, words);
	free(line);
}

static void read_module(const char *path, struct ftr_value_module *module)
{
	struct ftr_rules rules;
	struct ftr_record_choice choice = { .rules = &rules, .auto_args = true };

	ftr_rules_init(&rules);
	assert_int_equal(ftr_value_module_init(module, path, &choice), 0);
	ftr_rules_fini(&rules);
}

static void compile(const char *name, const char *source, const char *compiler, const char *flags,
		    struct ftr_value_module *module)
{
	object_write(name, source, strlen(source));
	object_run("%s %s -o program %s", compiler, flags, name);
	read_module("program", module);
}

/* What programs make at least. */
static uint32_t program_bytes(const struct ftr_value_op *op)
{
	uint32_t bytes = 0;

	for (; op->what != FTR_VALUE_END; op++) {
		bool is_string = op->what == FTR_VALUE_STRING || op->what == FTR_VALUE_STD_STRING;

		if (op->what == FTR_VALUE_FOLLOW)
			continue;
		bytes += is_string ? 4 : op->bytes;
		if ((op->flags & FTR_VALUE_JOINED) == 0)
			bytes = (bytes + 3) / 4 * 4;
	}
	return (bytes + 7) / 8 * 8;
}

/* The least payload that readers expect of @words. */
static size_t words_bytes(const char *words, enum uft_spec_kind kind)
{
	static const uint8_t zeros[FTR_PAYLOAD_MAX];
	const struct ftr_argspec *spec;
	struct uft_layout layout = { 0 };
	struct ftr_arena arena;
	size_t bytes;

	ftr_arena_init(&arena);
	assert_int_equal(uft_layout_add(&layout, ftr_slice_make(words, strlen(words)), kind, true,
					&(struct uft_spec_reader){ .arena = &arena }), 0);
	spec = uft_layout_finish(&layout, &arena);
	assert_non_null(spec);
	bytes = ftr_payload_measure(spec, zeros, sizeof(zeros), false);
	ftr_arena_fini(&arena);
	return bytes;
}

static void expect_functions(struct ftr_value_module *module, const struct expected *expected,
			     size_t nr)
{
	const char *text = ftr_strbuf_str(&module->functions);

	for (size_t i = 0; i < nr; i++) {
		expect_line(text, expected[i].name, 'A', expected[i].args);
		expect_line(text, expected[i].name, 'R', expected[i].retval);
	}
}

/* Readers have the words alone: they must say the same sizes as the programs. */
static void expect_sizes(struct ftr_value_module *module)
{
	const char *text = ftr_strbuf_str(&module->functions);

	for (size_t i = 0; i < module->funcs.nr; i++) {
		const struct ftr_values_func *func = &module->funcs.v[i];
		char head[32], *name, *line;
		const char *at;

		snprintf(head, sizeof(head), "F: %x ", func->low);
		at = strstr(text, head);
		if (at == NULL)			/* a library function */
			continue;
		at += strlen(head);
		name = strndup(at, strcspn(at, "\n"));
		line = line_of(text, name, 'A');
		assert_int_equal(line != NULL, func->entry != 0);
		if (line != NULL)
			assert_int_equal(program_bytes(&module->programs.ops.v[func->entry]),
					 words_bytes(line, UFT_SPEC_ARGS));
		free(line);
		line = line_of(text, name, 'R');
		assert_int_equal(line != NULL, func->exit != 0);
		if (line != NULL)
			assert_int_equal(program_bytes(&module->programs.ops.v[func->exit]),
					 words_bytes(line, UFT_SPEC_RETVAL));
		free(line);
		free(name);
	}
}

#define ARRAY(a) (a), sizeof(a) / sizeof((a)[0])

static void test_c(void **state)
{
	static const char *const flags[] = { "-g -O0", "-g -O2", "-g -O2 -gdwarf-4" };
	struct ftr_value_module module;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		compile("values.c", c_source, TEST_CC, flags[i], &module);
		expect_functions(&module, ARRAY(c_expected));
		expect_sizes(&module);
		assert_non_null(strstr(ftr_strbuf_str(&module.enums),
				       "E: enum color {RED=0,GREEN=5,BLUE=-9}\n"));
		ftr_value_module_fini(&module);
	}
}

static void test_cxx(void **state)
{
	struct ftr_value_module module;

	compile("values.cc", cxx_source, TEST_CXX, "-std=c++17 -g -O0", &module);
	expect_functions(&module, ARRAY(cxx_expected));
	expect_sizes(&module);
	assert_non_null(strstr(ftr_strbuf_str(&module.enums), "E: enum color {red=7}\n"));
	assert_non_null(strstr(ftr_strbuf_str(&module.enums), "E: enum color_2 {blue=1}\n"));
	ftr_value_module_fini(&module);
}

/* clang leaves arguments and values of static functions out: debug info tells of arguments. */
static void test_changed_by_clang(void **state)
{
	static const char source[] =
		"#include <stdio.h>\n"
		"#define KEEP __attribute__((noinline))\n"
		"static KEEP int unused(int a, int b, int c) { return puts(\"\") + c; }\n"
		"static KEEP int used(int a, double d) { return puts(\"\") + a + d; }\n"
		"int main(int n, char **v) { return unused(n, 2, n + 1) + used(n + 2, n); }\n";
	struct ftr_value_module module;

	if (!object_have("clang"))
		skip();
	compile("clang.c", source, "clang", "-g -O2", &module);
	expect_line(ftr_strbuf_str(&module.functions), "unused", 'A',
		    "arg1/e:optimized,arg2/e:optimized,arg3/i32%RDI");
	expect_line(ftr_strbuf_str(&module.functions), "unused", 'R', NULL);
	expect_line(ftr_strbuf_str(&module.functions), "used", 'A', "arg1/i32,fparg1/64");
	expect_line(ftr_strbuf_str(&module.functions), "main", 'A', "arg1/i32,arg2/p");
	expect_line(ftr_strbuf_str(&module.functions), "main", 'R', "retval/i32");
	ftr_value_module_fini(&module);
	compile("clang.c", source, "clang", "-g -O0", &module);
	expect_line(ftr_strbuf_str(&module.functions), "unused", 'A', "arg1/i32,arg2/i32,arg3/i32");
	expect_line(ftr_strbuf_str(&module.functions), "unused", 'R', "retval/i32");
	ftr_value_module_fini(&module);
}

/* Another machine's, whose vector registers no operation of their own stands for. */
static void test_registers_by_number(void **state)
{
	static const char source[] =
		"#define KEEP __attribute__((noinline))\n"
		"int other(const char *);\n"
		"static KEEP double second(double a, double b, float c)\n"
		"{ return other(\"\") + b + c; }\n"
		"static KEEP int used(int a, double b) { return other(\"\") + a + b; }\n"
		"int first(int n) { return second(1, n, n) + used(n + 2, n); }\n";
	struct ftr_value_module module;

	if (!object_have("clang") || !object_have("aarch64-linux-gnu-ld"))
		skip();
	compile("vectors.c", source, "clang",
		"--target=aarch64-linux-gnu -g -O2 -fPIC -shared -nostdlib", &module);
	expect_line(ftr_strbuf_str(&module.functions), "second", 'A',
		    "arg1/e:optimized,fparg1/64,fparg2/32");
	expect_line(ftr_strbuf_str(&module.functions), "used", 'A', "arg1/i32,fparg1/64");
	ftr_value_module_fini(&module);
}

struct words_row {
	const char *words;
	int ret;
	enum ftr_place_kind kind;
	uint16_t nr;
	uint32_t bytes;
};

static void words_row_check(const struct ftr_callconv *convention, const struct words_row *row)
{
	bool is_retval = strncmp(row->words, "retval", strlen("retval")) == 0;
	struct uft_layout layout = { 0 };
	struct ftr_parameter value;
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	assert_int_equal(uft_layout_add(&layout, ftr_slice_make(row->words, strlen(row->words)),
					is_retval ? UFT_SPEC_RETVAL : UFT_SPEC_ARGS, true,
					&(struct uft_spec_reader){ .arena = &arena }), 0);
	assert_int_equal(layout.args.nr, 1);
	assert_int_equal(ftr_value_of_spec(convention, &layout.args.v[0], is_retval, &value),
			 row->ret);
	if (row->ret == 0) {
		assert_int_equal(value.places[0].kind, row->kind);
		assert_int_equal(value.places[0].nr, row->nr);
		assert_int_equal(value.places[0].bytes, row->bytes);
	}
	ftr_vec_fini(&layout.args);
	ftr_arena_fini(&arena);
}

/* Places that users name, and those that follow from the numbers. */
static void test_words(void **state)
{
	static const struct words_row rows[] = {
		{ "arg1", 0, FTR_PLACE_INTEGER, 0, 8 },
		{ "arg6/i16", 0, FTR_PLACE_INTEGER, 5, 2 },
		{ "arg7/x", 0, FTR_PLACE_STACK, 8, 8 },
		{ "arg2/u8%rdx", 0, FTR_PLACE_INTEGER, 2, 1 },
		{ "arg2/u8%R9", 0, FTR_PLACE_INTEGER, 5, 1 },
		{ "arg1/i32%stack+3", 0, FTR_PLACE_STACK, 24, 4 },
		{ "arg1/i32%stack3", 0, FTR_PLACE_STACK, 24, 4 },
		{ "fparg1", 0, FTR_PLACE_VECTOR, 0, 8 },
		{ "fparg8/32", 0, FTR_PLACE_VECTOR, 7, 4 },
		{ "fparg9/32", 0, FTR_PLACE_STACK, 8, 4 },
		{ "fparg1/64%xmm5", 0, FTR_PLACE_VECTOR, 5, 8 },
		{ "fparg1/80%stack+1", 0, FTR_PLACE_STACK, 8, 10 },
		{ "arg1/t16:mixed%RSI+XMM0", 0, FTR_PLACE_INTEGER, 1, 8 },
		{ "arg1/t40:big", 0, FTR_PLACE_STACK, 8, 40 },
		{ "arg0", -EINVAL, 0, 0, 0 },
		{ "arg1%eax", -EINVAL, 0, 0, 0 },
		{ "fparg1/80", -EINVAL, 0, 0, 0 },
		{ "arg1%stack+0", -EINVAL, 0, 0, 0 },
		{ "arg1%stack+99999", -EINVAL, 0, 0, 0 },
		{ "arg1/t24%rdi+rsi+rdx", -EINVAL, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		words_row_check(ftr_arch_host->callconv, &rows[i]);
}

/* Where all arguments are on the stack, and a word has 32 bits. */
/* Pairs of registers begin at an even one, floats of one kind have a register each. */
static void test_arm(void **state)
{
	static const char source[] =
		"#define KEEP __attribute__((noinline))\n"
		"struct wide { __int128 v; };\n"
		"struct four { double a, b, c, d; };\n"
		"struct array { float v[3]; };\n"
		"struct large { long a, b, c; };\n"
		"KEEP __int128 pairs(int a, __int128 b, struct wide c, int d) { return b; }\n"
		"KEEP __int128 last(long a, long b, long c, long d, long e, long f, long g, __int128 h,"
		" int i) { return h; }\n"
		"KEEP _Complex double parts(_Complex float a, _Complex double b, int c) { return b; }\n"
		"KEEP struct four floats(struct four a, struct array b, double c) { return a; }\n"
		"KEEP long double doubles(long double a, _Complex long double b, double c, int d)"
		" { return a; }\n"
		"KEEP struct large in_memory(struct large a, int b) { return a; }\n";
	static const struct expected expected[] = {
		{ "pairs", "arg1/i32,arg2/t16:__int128%X2+X3,arg3/t16:wide%X4+X5,arg4/i32%X6",
		  "retval/t16:__int128" },
		{ "last", "arg1/i64,arg2/i64,arg3/i64,arg4/i64,arg5/i64,arg6/i64,arg7/i64,"
		  "arg8/t16:__int128%stack+1,arg9/i32%stack+3", "retval/t16:__int128" },
		{ "parts", "arg1/t8:complex_float%V0+V1,arg2/t16:complex_double%V2+V3,arg3/i32%X0",
		  "retval/t16:complex_double" },
		{ "floats", "arg1/t32:four%V0+V1+V2+V3,arg2/t12:array%V4+V5+V6,fparg1/64%V7",
		  "retval/t32:four" },
		{ "doubles", "arg1/t16:long_double,arg2/t32:complex_long_double,fparg1/64%V3,"
		  "arg3/i32%X0", "retval/t16:long_double" },
		{ "in_memory", "arg1/t24:large,arg2/i32", "retval/t24:large" },
	};
	struct ftr_value_module module;

	if (system("command -v aarch64-linux-gnu-gcc >/dev/null") != 0)
		skip();
	compile("arm.c", source, "aarch64-linux-gnu-gcc", "-g -O0 -w -shared -fPIC -nostdlib",
		&module);
	expect_functions(&module, expected, sizeof(expected) / sizeof(expected[0]));
	expect_sizes(&module);
	assert_null(strstr(ftr_strbuf_str(&module.enums), "long"));	/* nobody reads binary128 */
	ftr_value_module_fini(&module);
}

static void test_words_of_32_bits(void **state)
{
	static const struct words_row rows[] = {
		{ "arg1", 0, FTR_PLACE_STACK, 4, 4 },
		{ "arg2/x", 0, FTR_PLACE_STACK, 8, 4 },
		{ "arg3/i64", 0, FTR_PLACE_STACK, 12, 8 },
		{ "arg1/p", 0, FTR_PLACE_STACK, 4, 4 },
		{ "arg2/i16", 0, FTR_PLACE_STACK, 8, 2 },
		{ "arg1/i32%stack+3", 0, FTR_PLACE_STACK, 12, 4 },
		{ "arg1%eax", 0, FTR_PLACE_INTEGER, 0, 4 },
		{ "arg2/u8%EDX", 0, FTR_PLACE_INTEGER, 1, 1 },
		{ "arg3%ecx", 0, FTR_PLACE_INTEGER, 2, 4 },
		{ "arg1/i64%eax+edx", 0, FTR_PLACE_INTEGER, 0, 4 },
		{ "fparg1", 0, FTR_PLACE_STACK, 4, 8 },
		{ "fparg3/32", 0, FTR_PLACE_STACK, 12, 4 },
		{ "fparg1/80", 0, FTR_PLACE_STACK, 4, 10 },
		{ "arg1/t40:big", 0, FTR_PLACE_STACK, 4, 40 },
		{ "arg1%rdi", -EINVAL, 0, 0, 0 },
		{ "fparg1%xmm0", -EINVAL, 0, 0, 0 },
		{ "retval", 0, FTR_PLACE_RETURN, 0, 4 },
		{ "retval/i64", 0, FTR_PLACE_RETURN, 0, 4 },
		{ "retval/f32", 0, FTR_PLACE_X87, 0, 4 },
		{ "retval/f64", 0, FTR_PLACE_X87, 0, 8 },
		{ "retval/t8:pair", 0, FTR_PLACE_RETURN, 0, 4 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		words_row_check(ftr_arch_find(EM_386, ELFCLASS32)->callconv, &rows[i]);
}

/* A spec of a function's whole name is not replaced by one of a pattern, whichever comes later. */
static void test_exact(void **state)
{
	static const struct ftr_slice exact = { "arg1/x32", 8 }, pattern = { "arg1/d,arg2/d", 13 };
	struct uft_layout layout = { 0 };
	struct ftr_arena arena;

	ftr_arena_init(&arena);
	for (unsigned i = 0; i < 2; i++) {
		const struct uft_spec_reader reader = { .arena = &arena };

		assert_int_equal(uft_layout_add(&layout, i == 0 ? exact : pattern, UFT_SPEC_ARGS,
						i == 0, &reader), 0);
		assert_int_equal(uft_layout_add(&layout, i == 0 ? pattern : exact, UFT_SPEC_ARGS,
						i != 0, &reader), 0);
		assert_int_equal(layout.args.nr, 2);
		assert_int_equal(layout.args.v[0].arg.format, FTR_ARG_HEX);
		assert_int_equal(layout.args.v[0].arg.size, 4);
		ftr_vec_fini(&layout.args);
		layout = (struct uft_layout){ 0 };
	}
	ftr_arena_fini(&arena);
}

/* Each of the library's functions has specs that readers and the compiler of programs take. */
static void test_prototypes(void **state)
{
	size_t nr = 0;

	for (const struct ftr_prototype *one = ftr_prototypes; one->name != NULL; one++, nr++) {
		assert_ptr_equal(ftr_prototype_find(one->name), one);
		if (one->args[0] != '\0')
			assert_true(words_bytes(one->args, UFT_SPEC_ARGS) > 0);
		if (one->retval[0] != '\0')
			assert_true(words_bytes(one->retval, UFT_SPEC_RETVAL) > 0);
	}
	assert_true(nr >= 225);
	assert_null(ftr_prototype_find("no_such_function"));
	assert_null(ftr_prototype_find(""));
}

/* Whatever stands in a file: what comes out has the shape that it must have. */
static void test_damaged(void **state)
{
	struct ftr_value_module module;
	const struct ftr_value_op *entry;
	uint64_t random = 1;
	size_t len;
	char *bytes;

	object_write("values.c", c_source, strlen(c_source));
	object_run("%s -g -O2 -o program values.c", TEST_CC);
	bytes = object_read("program", &len);
	for (unsigned round = 0; round < 300; round++) {
		char *copy = malloc(len);

		memcpy(copy, bytes, len);
		for (unsigned i = 0; i < 1 + round % 40; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			copy[(random >> 20) % len] = (char)(random >> 56);
		}
		object_write("bent", copy, round % 10 == 9 ? (random >> 20) % len : len);
		read_module("bent", &module);
		for (size_t i = 0; i < module.funcs.nr; i++) {
			assert_true(module.funcs.v[i].low < module.funcs.v[i].high);
			assert_true(i == 0 || module.funcs.v[i].low >= module.funcs.v[i - 1].high);
			assert_in_range(module.funcs.v[i].entry, 0, module.programs.ops.nr - 1);
			entry = &module.programs.ops.v[module.funcs.v[i].entry];
			assert_in_range(program_bytes(entry), 0, FTR_PAYLOAD_MAX);
		}
		ftr_value_module_fini(&module);
		free(copy);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_changed_by_clang),
		cmocka_unit_test(test_registers_by_number),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_of_32_bits),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_prototypes),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
