/* SPDX-License-Identifier: MIT */
/* What ftr asks of ELF files besides symbols, of every kind of file. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/object_util.h"
#include "utils/object/elf.h"

static const char source[] = "int f(int x) { return x + 1; }\nint main(void) { return f(-1); }\n";

static struct ftr_elf_info info_of(const char *flags)
{
	struct ftr_elf_info info;

	object_write("e.c", source, sizeof(source) - 1);
	object_run(TEST_CC " %s e.c -o e", flags);
	assert_int_equal(ftr_elf_info_load(&info, "e", NULL), 0);
	return info;
}

static void plain_program(void **state)
{
	struct ftr_elf_info info = info_of("-fPIE -pie -Wl,--build-id=0x0123456789abcdef");

	assert_int_equal(info.elf_class, sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32);
	assert_int_equal(info.elf_data, ELFDATA2LSB);
	assert_int_equal(info.type, ET_DYN);
	assert_true(info.has_interp);
	assert_true(info.has_symtab);
	assert_int_equal(info.hooks, 0);
	assert_string_equal(info.build_id, "0123456789abcdef");
}

static void hooks(void **state)
{
	assert_int_equal(info_of("-pg").hooks, FTR_ELF_HOOK_MCOUNT);
	assert_int_equal(info_of("-pg -fno-pie -no-pie").hooks, FTR_ELF_HOOK_MCOUNT);
	assert_int_equal(info_of("-finstrument-functions").hooks, FTR_ELF_HOOK_CYGPROF);
	assert_int_equal(info_of("-pg -fPIC -shared").hooks, FTR_ELF_HOOK_MCOUNT);
	assert_int_equal(info_of("-pg -s").hooks, FTR_ELF_HOOK_MCOUNT);
}

static void fentry(void **state)
{
	if (system(TEST_CC " -pg -mfentry -S -x c /dev/null -o /dev/null 2>/dev/null") != 0)
		skip();
	assert_int_equal(info_of("-pg -mfentry -fno-pie -no-pie").hooks & FTR_ELF_HOOK_FENTRY,
			 FTR_ELF_HOOK_FENTRY);
}

static void kinds_of_files(void **state)
{
	struct ftr_elf_info info = info_of("-fno-pie -no-pie -s -Wl,--build-id=none");

	assert_int_equal(info.type, ET_EXEC);
	assert_false(info.has_symtab);
	assert_string_equal(info.build_id, "");
	info = info_of("-fPIC -shared -Wl,--build-id=sha1");
	assert_int_equal(info.type, ET_DYN);
	assert_false(info.has_interp);
	assert_int_equal(strlen(info.build_id), 40);
	info = info_of("-Wl,--build-id=0x000102030405060708090a0b0c0d0e0f1011121314151617");
	assert_string_equal(info.build_id, "000102030405060708090a0b0c0d0e0f10111213");
}

static void static_program(void **state)
{
	struct ftr_elf_info info;

	object_write("e.c", source, sizeof(source) - 1);
	if (system(TEST_CC " -static e.c -o static 2>/dev/null") != 0)
		skip();
	assert_int_equal(ftr_elf_info_load(&info, "static", NULL), 0);
	assert_false(info.has_interp);
	assert_int_equal(info.type, ET_EXEC);
}

static void other_files(void **state)
{
	struct ftr_elf_info info;
	struct ftr_err err = { 0 };

	assert_int_equal(ftr_elf_info_load(&info, "missing", &err), -ENOENT);
	assert_string_equal(err.text, "missing: No such file or directory");
	object_write("text", "hello", 5);
	assert_int_equal(ftr_elf_info_load(&info, "text", &err), -ENOEXEC);
	assert_string_equal(err.text, "text: not an ELF file, or damaged");
	assert_int_equal(ftr_elf_info_load(&info, "/dev/null", &err), -ENOEXEC);
	object_write("archive", "!<arch>\n", 8);
	assert_int_equal(ftr_elf_info_load(&info, "archive", &err), -ENOEXEC);
}

static void truncated_files(void **state)
{
	struct ftr_elf_info info = info_of("-pg");
	size_t len;
	char *bytes = object_read("e", &len);

	for (size_t at = 0; at < len; at += at < 0x400 ? 5 : 61) {
		int ret;

		object_write("part", bytes, at);
		ret = ftr_elf_info_load(&info, "part", NULL);
		assert_true(ret == 0 || ret == -ENOEXEC);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_program),
		cmocka_unit_test(hooks),
		cmocka_unit_test(fentry),
		cmocka_unit_test(kinds_of_files),
		cmocka_unit_test(static_program),
		cmocka_unit_test(other_files),
		cmocka_unit_test(truncated_files),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
