/* SPDX-License-Identifier: MIT */
/* Source lines of functions. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/object_util.h"
#include "utils/object/debuginfo.h"
#include "utils/object/symtab.h"

static const char source[] =
	"int first(int x) { return x + 1; }\n"
	"\n"
	"static int\n"
	"second(int x)\n"
	"{\n"
	"	return x * first(x);\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	return second(argc);\n"
	"}\n";

static uint64_t address_of(const char *path, const char *name)
{
	struct ftr_symtab tab;
	uint64_t addr = 0;

	ftr_symtab_init(&tab);
	assert_int_equal(ftr_symtab_load_elf(&tab, path, NULL), 0);
	for (size_t i = 0; i < tab.nr; i++) {
		if (strcmp(tab.symbols[i].name, name) == 0)
			addr = tab.symbols[i].addr;
	}
	ftr_symtab_fini(&tab);
	assert_true(addr != 0);
	return addr;
}

static void expect_lines(const char *path)
{
	static const struct { const char *name; unsigned line; } functions[] = {
		{ "main", 8 }, { "second", 4 }, { "first", 1 },
	};
	struct ftr_debuginfo *info;
	const char *file;
	unsigned line;

	assert_int_equal(ftr_debuginfo_open(&info, path, NULL), 0);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		uint64_t addr = address_of(path, functions[i].name);

		assert_true(ftr_debuginfo_find(info, addr, &file, &line));
		assert_int_equal(line, functions[i].line);
		assert_string_equal(strrchr(file, '/') == NULL ? file : strrchr(file, '/') + 1,
				    "lines.c");
	}
	assert_false(ftr_debuginfo_find(info, 0, &file, &line));
	assert_false(ftr_debuginfo_find(info, UINT64_MAX - 5000, &file, &line));
	ftr_debuginfo_close(info);
}

static void build(const char *flags)
{
	object_write("lines.c", source, sizeof(source) - 1);
	object_run(TEST_CC " -O0 %s lines.c -o lines", flags);
}

static void every_kind_of_program(void **state)
{
	build("-g -fPIE -pie");
	expect_lines("lines");
	build("-g -fno-pie -no-pie");
	expect_lines("lines");
	build("-g -gdwarf-4 -fPIE -pie");
	expect_lines("lines");
	build("-g -gz -pg");
	expect_lines("lines");
}

static void separate_debug_file(void **state)
{
	if (!object_have("objcopy"))
		skip();
	build("-g -fno-pie -no-pie");
	object_run("objcopy --only-keep-debug lines lines.debug && "
		   "objcopy --strip-all --add-gnu-debuglink=lines.debug lines bare");
	expect_lines("bare");
}

static void without_debug_information(void **state)
{
	struct ftr_debuginfo *info = NULL;
	struct ftr_err err = { 0 };
	const char *file;
	unsigned line;

	build("-g0");
	assert_int_equal(ftr_debuginfo_open(&info, "lines", NULL), 0);
	assert_false(ftr_debuginfo_find(info, address_of("lines", "main"), &file, &line));
	ftr_debuginfo_close(info);
	ftr_debuginfo_close(NULL);
	assert_int_equal(ftr_debuginfo_open(&info, "missing", &err), -ENOENT);
	assert_int_equal(ftr_debuginfo_open(&info, "lines.c", &err), -ENOEXEC);
}

static void truncated_files(void **state)
{
	size_t len;
	char *bytes;

	build("-g");
	bytes = object_read("lines", &len);
	for (size_t at = 0; at < len; at += 171) {
		struct ftr_debuginfo *info;
		const char *file;
		unsigned line;

		object_write("part", bytes, at);
		if (ftr_debuginfo_open(&info, "part", NULL) < 0)
			continue;
		ftr_debuginfo_find(info, 0x1139, &file, &line);
		ftr_debuginfo_close(info);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_program),
		cmocka_unit_test(separate_debug_file),
		cmocka_unit_test(without_debug_information),
		cmocka_unit_test(truncated_files),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
