/* SPDX-License-Identifier: MIT */
/* NAME.sym: every form that was ever written, damage, and the way there and back. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "utils/object/symtab.h"

static unsigned load(struct ftr_symtab *tab, const char *text, size_t len)
{
	struct ftr_diag diag = { 0 };
	struct ftr_istream in;

	ftr_symtab_init(tab);
	ftr_istream_from_memory(&in, "x.sym", text, len);
	assert_int_equal(ftr_symtab_load_text(tab, &in, &diag, NULL), 0);
	ftr_istream_close(&in);
	return diag.nr;
}

static void expect_symbol(const struct ftr_symtab *tab, size_t i, struct ftr_symbol symbol)
{
	assert_true(i < tab->nr);
	assert_true(tab->symbols[i].addr == symbol.addr);
	assert_int_equal(tab->symbols[i].size, symbol.size);
	assert_int_equal(tab->symbols[i].type, symbol.type);
	assert_string_equal(tab->symbols[i].name, symbol.name);
}

static void lines_without_size(void **state)
{
	static const char text[] =
		"# symbols: 3\n"
		"# path name: /usr/bin/a program\n"
		"# build-id: d272dc3a674afc3fb8e852111a10deb5819d903b\n"
		"0000000000001030 P getpid\n"
		"0000000000001040 ? __dynsym_end\n"
		"0000000000001139 t a\n"
		"0000000000001150 T main\n"
		"0000000000001175 ? __sym_end\n";
	struct ftr_symtab tab;

	assert_int_equal(load(&tab, text, sizeof(text) - 1), 0);
	assert_string_equal(tab.path, "/usr/bin/a program");
	assert_string_equal(tab.build_id, "d272dc3a674afc3fb8e852111a10deb5819d903b");
	assert_int_equal(tab.nr, 3);
	expect_symbol(&tab, 0, (struct ftr_symbol){ 0x1030, 0x10, 'P', "getpid" });
	expect_symbol(&tab, 1, (struct ftr_symbol){ 0x1139, 0, 't', "a" });
	expect_symbol(&tab, 2, (struct ftr_symbol){ 0x1150, 0x25, 'T', "main" });
	assert_null(ftr_symtab_find(&tab, 0x1040));
	ftr_symtab_fini(&tab);
}

static void lines_with_size(void **state)
{
	static const char text[] =
		"0000000000001150 00000025 T main\n"
		"0000000000001030 00000010 P getpid\r\n"
		"0000000000001180 a0000000 d big\n"
		"0000000000001200 D data";
	struct ftr_symtab tab;

	assert_int_equal(load(&tab, text, sizeof(text) - 1), 0);
	assert_int_equal(tab.nr, 4);
	expect_symbol(&tab, 0, (struct ftr_symbol){ 0x1030, 0x10, 'P', "getpid" });
	expect_symbol(&tab, 1, (struct ftr_symbol){ 0x1150, 0x25, 'T', "main" });
	expect_symbol(&tab, 2, (struct ftr_symbol){ 0x1180, 0xa0000000, 'd', "big" });
	expect_symbol(&tab, 3, (struct ftr_symbol){ 0x1200, 0, 'D', "data" });
	assert_null(tab.path);
	assert_null(tab.build_id);
	ftr_symtab_fini(&tab);
}

static void kallsyms(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81000000 t startup\n"
		"ffffffffc0001000 t helper\t[a_module]\n";
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t x\n";
	struct ftr_symtab tab;

	assert_int_equal(load(&tab, text, sizeof(text) - 1), 0);
	assert_int_equal(tab.nr, 2);
	expect_symbol(&tab, 0, (struct ftr_symbol){ 0xffffffff81000000, 0, 'T', "_stext" });
	expect_symbol(&tab, 1, (struct ftr_symbol){ 0xffffffffc0001000, 0, 't', "helper" });
	ftr_symtab_fini(&tab);
	assert_int_equal(load(&tab, hidden, sizeof(hidden) - 1), 0);
	assert_int_equal(tab.nr, 0);
	ftr_symtab_fini(&tab);
}

static void damaged_lines_are_skipped(void **state)
{
	static const char *const lines[] = {
		"main", "1000", "1000 ", "1000 T", "1000 T ", "xyz T main", "1000 T\tmain",
		"10000000000000000 T main", "1000 100000000 T main", "1000 10 TT main",
		"1000 zz T main", " 1000 T main", "-1 T main", "# size: ", "# size: 10",
		"# size: 10 x", "# size: x 10", "\001\002\003",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ftr_symtab tab;
		char text[200];
		int len = snprintf(text, sizeof(text), "%s\n0000000000001200 T good\n", lines[i]);

		assert_int_equal(load(&tab, text, (size_t)len), 1);
		assert_int_equal(tab.nr, 1);
		assert_string_equal(tab.symbols[0].name, "good");
		ftr_symtab_fini(&tab);
	}
}

/* A recorder ends every line: a part of one names no function, and nothing behind it has a name. */
static void cut_lines_are_left_out(void **state)
{
	static const char text[] =
		"# symbols: 3\n"
		"0000000000001100 T first\n"
		"0000000000001200 T second\n"
		"0000000000001300 T thi";
	struct ftr_symtab tab;

	assert_int_equal(load(&tab, text, sizeof(text) - 1), 1);
	assert_int_equal(tab.nr, 1);
	expect_symbol(&tab, 0, (struct ftr_symbol){ 0x1100, 0x100, 'T', "first" });
	assert_null(ftr_symtab_find(&tab, 0x1200));
	ftr_symtab_fini(&tab);
}

static void empty_files_hold_nothing(void **state)
{
	struct ftr_symtab tab;

	assert_int_equal(load(&tab, "", 0), 0);
	assert_int_equal(tab.nr, 0);
	ftr_symtab_fini(&tab);
	assert_int_equal(load(&tab, "\n\n# nothing\n", 12), 0);
	assert_int_equal(tab.nr, 0);
	ftr_symtab_fini(&tab);
}

static const char stored[] =
	"# symbols: 6\n"
	"# path name: /bin/x\n"
	"# build-id: abcd\n"
	"000000000000037c d tag\n"
	"000000000000039c ? __sym_end\n"
	"0000000000001030 P strlen\n"
	"0000000000001040 ? __dynsym_end\n"
	"0000000000001100 T start\n"
	"0000000000001200 T _ZN3FooC1Ev\n"
	"0000000000001210 ? __func_end\n"
	"0000000000004000 D data\n"
	"ffffffffffff0000 u end\n"
	"ffffffffffff0001 ? __sym_end\n"
	"# size: 37c 20\n"
	"# size: 1030 10\n"
	"# size: 1200 10\n"
	"# size: 4000 4\n"
	"# size: ffffffffffff0000 1\n";

static void stores_what_old_readers_understand(void **state)
{
	static struct ftr_symbol symbols[] = {
		{ 0x37c, 0x20, 'd', "tag" },	 { 0x1030, 0x10, 'P', "strlen" },
		{ 0x1100, 0, 'T', "start" },	 { 0x1200, 0x10, 'T', "_ZN3FooC1Ev" },
		{ 0x4000, 4, 'D', "data" },	 { 0xffffffffffff0000, 1, 'u', "end" },
	};
	struct ftr_symtab tab = {
		.symbols = symbols, .nr = 6, .path = "/bin/x", .build_id = "abcd"
	};
	struct ftr_ostream out;

	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_symtab_store_text(&tab, &out), 0);
	assert_int_equal(out.len, sizeof(stored) - 1);
	assert_memory_equal(out.buf, stored, out.len);
	ftr_ostream_close(&out, NULL);
}

static void what_was_stored_is_stored_again(void **state)
{
	struct ftr_symtab tab;
	struct ftr_ostream out;

	assert_int_equal(load(&tab, stored, sizeof(stored) - 1), 0);
	assert_int_equal(tab.nr, 6);
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	assert_int_equal(ftr_symtab_store_text(&tab, &out), 0);
	assert_int_equal(out.len, sizeof(stored) - 1);
	assert_memory_equal(out.buf, stored, out.len);
	ftr_ostream_close(&out, NULL);
	ftr_symtab_fini(&tab);
}

static void truncated_anywhere(void **state)
{
	for (size_t len = 0; len < sizeof(stored); len++) {
		struct ftr_symtab tab;

		load(&tab, stored, len);
		assert_true(tab.nr <= 7);	/* half the name of a dummy is a name */
		ftr_symtab_fini(&tab);
	}
}

static void a_failed_stream_is_reported(void **state)
{
	struct ftr_symtab tab;
	struct ftr_ostream out;

	assert_int_equal(load(&tab, stored, sizeof(stored) - 1), 0);
	assert_int_equal(ftr_ostream_to_memory(&out), 0);
	out.code = 28;
	assert_int_equal(ftr_symtab_store_text(&tab, &out), -28);
	ftr_ostream_close(&out, NULL);
	ftr_symtab_fini(&tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_without_size),
		cmocka_unit_test(lines_with_size),
		cmocka_unit_test(kallsyms),
		cmocka_unit_test(damaged_lines_are_skipped),
		cmocka_unit_test(cut_lines_are_left_out),
		cmocka_unit_test(empty_files_hold_nothing),
		cmocka_unit_test(stores_what_old_readers_understand),
		cmocka_unit_test(what_was_stored_is_stored_again),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(a_failed_stream_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
