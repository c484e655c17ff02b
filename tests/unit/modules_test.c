/* SPDX-License-Identifier: MIT */
/* What the recorder makes of the ELF files of traced processes: sections and symbols. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmcount/sections.h"
#include "tests/unit/object_util.h"
#include "tests/unit/section_util.h"
#include "utils/proto/patch.h"
#include "utils/proto/plt.h"
#include "utils/record/modules.h"

static const char source[] = "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
			     "jmp_buf buf;\n"
			     "int main(void) { puts(\"\"); srand(1); return _setjmp(buf) + atoi(\"0\"); }\n";
static const char leaf[] = "int leaf(int x) { return x + 1; }\n";
static const char more[] = "#include <stdio.h>\nint leaf(int x) { return putchar(x); }\n";

static void compile(const char *text, const char *flags, const char *out)
{
	object_write("m.c", text, strlen(text));
	object_run(TEST_CC " -O0 -w m.c %s -o %s", flags, out);
}

/* The sections as the runtime would see them; NULL = it gets none. */
static const struct ftr_sections *sections_of(struct ftr_modules *modules, const char *path)
{
	int fd = ftr_modules_sections_fd(modules, path, true);

	return fd >= 0 ? ftr_sections_map(dup(fd)) : NULL;
}

/* The slot of the function @name; NULL = it has none. */
static const struct ftr_plt_slot *slot_of(const struct ftr_sections *sections, const char *name)
{
	const struct ftr_plt_table *table;
	const struct ftr_plt_slot *slot;
	uint32_t bytes = 0;

	table = ftr_sections_find(sections, FTR_SECTION_LIBCALLS, &bytes);
	if (table == NULL)
		return NULL;
	assert_true(table->strings_offset < bytes);
	assert_int_equal(((const char *)table)[bytes - 1], '\0');
	for (slot = (const void *)(table + 1); (const char *)slot < (const char *)table +
					       table->strings_offset; slot++) {
		assert_true(slot->name < bytes - table->strings_offset);
		if (strcmp((const char *)table + table->strings_offset + slot->name, name) == 0)
			return slot;
	}
	return NULL;
}

static struct ftr_modules modules;
static struct section_options options;

static int start(void **state)
{
	memset(&modules, 0, sizeof(modules));
	options = (struct section_options){ 0 };
	section_options_add(&options, "--nest-libcall");
	modules.options = &options.given;
	return ftr_modules_switch(&modules, "plt", FTR_SWITCH_ON);
}

static int stop(void **state)
{
	ftr_modules_fini(&modules);
	return 0;
}

static void check_program(const char *flags)
{
	const struct ftr_sections *sections;

	compile(source, flags, "program");
	sections = sections_of(&modules, "program");
	assert_non_null(sections);
	assert_int_equal(ftr_sections_switch(sections, "plt"), FTR_SWITCH_ON);
	assert_non_null(slot_of(sections, "puts"));
	assert_int_not_equal(slot_of(sections, "puts")->got, 0);
	assert_int_equal(slot_of(sections, "puts")->flags, 0);
	assert_non_null(slot_of(sections, "srand"));
	assert_int_equal(slot_of(sections, "_setjmp")->flags,
			 FTR_PLT_RETURN_UNTOUCHED | FTR_PLT_SETJMP);
	assert_null(slot_of(sections, "__libc_start_main"));
	assert_null(slot_of(sections, "leaf"));
	ftr_sections_unmap(sections);
}

static void test_program(void **state)
{
	check_program("-fPIE -pie -Wl,-z,lazy");
	check_program("-fPIE -pie -Wl,-z,now");
	check_program("-fno-pie -no-pie");
	check_program("-fPIE -pie -fno-plt");
}

static void test_library_without_plt(void **state)
{
	const struct ftr_sections *sections;
	uint32_t bytes;

	compile(leaf, "-fPIC -shared -nostdlib", "leaf.so");
	sections = sections_of(&modules, "leaf.so");
	assert_non_null(sections);
	assert_null(ftr_sections_find(sections, FTR_SECTION_LIBCALLS, &bytes));
	assert_int_equal(ftr_sections_switch(sections, "plt"), FTR_SWITCH_ON);
	ftr_sections_unmap(sections);
}

static void test_nothing_to_say(void **state)
{
	struct ftr_modules off = { .generation = 0 };

	compile(source, "", "program");
	assert_int_equal(ftr_modules_sections_fd(&off, "program", true), -1);
	assert_false(ftr_modules_is_traced(&off, "program"));
	compile(source, "-pg", "instrumented");
	assert_true(ftr_modules_sections_fd(&off, "instrumented", true) >= 0);
	assert_true(ftr_modules_is_traced(&off, "instrumented"));
	section_options_add(&options, "--no-libcall");
	off.options = &options.given;
	assert_int_equal(ftr_modules_sections_fd(&off, "late.so", false), -1);
	off.is_in_use = true;
	assert_int_equal(ftr_modules_switch(&off, "plt", FTR_SWITCH_OFF), 0);
	assert_int_equal(off.generation, 1);
	assert_true(ftr_modules_sections_fd(&off, "program", true) >= 0);
	assert_true(ftr_modules_is_traced(&off, "instrumented"));
	assert_false(ftr_modules_is_traced(&off, "program"));
	ftr_modules_fini(&off);
}

#define PATCHABLE "-O2 -fcf-protection=none -fpatchable-function-entry=5 "

/* How many functions are to be patched; -1 = the module gets no sections. */
static int patched_nr(struct ftr_modules *of, const char *path, bool is_image)
{
	int fd = ftr_modules_sections_fd(of, path, is_image), nr;
	const struct ftr_patch_table *table;
	const struct ftr_sections *sections;
	uint32_t bytes = 0;

	if (fd < 0)
		return -1;
	sections = ftr_sections_map(dup(fd));
	assert_non_null(sections);
	assert_int_equal(ftr_sections_switch(sections, "patch"),
			 FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES);
	table = ftr_sections_find(sections, FTR_SECTION_PATCH, &bytes);
	nr = table != NULL ? (int)table->site_nr : 0;
	assert_int_equal(bytes, table != NULL ? sizeof(*table) +
			 (unsigned)nr * sizeof(struct ftr_patch_site) : 0);
	ftr_sections_unmap(sections);
	return nr;
}

static int patched_with(const char *option, const char *argument)
{
	struct ftr_modules given = { .generation = 0 };
	int nr;

	options = (struct section_options){ 0 };
	section_options_add(&options, "--no-libcall");
	section_options_add_value(&options, option, argument);
	given.options = &options.given;
	assert_int_equal(ftr_modules_switch(&given, "patch", FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES),
			 0);
	nr = patched_nr(&given, "patchable", true);
	ftr_modules_fini(&given);
	section_options_fini(&options);
	return nr;
}

static void test_patch_sites(void **state)
{
	struct ftr_modules all = { .generation = 0 };

	compile(leaf, PATCHABLE "-shared -fPIC", "leaf.so");
	compile(source, PATCHABLE, "patchable");
	compile(source, "", "plain");
	compile(source, PATCHABLE "-pg", "calling");
	assert_int_equal(ftr_modules_switch(&all, "patch", FTR_SWITCH_ON | FTR_SWITCH_LIBRARIES),
			 0);
	assert_int_equal(patched_nr(&all, "patchable", true), 1);
	assert_int_equal(patched_nr(&all, "leaf.so", false), 1);
	assert_int_equal(patched_nr(&all, "plain", true), -1);
	ftr_modules_loads(&all, "plain", "leaf.so");
	assert_int_equal(patched_nr(&all, "plain", true), 0);
	assert_true(ftr_modules_is_traced(&all, "plain"));
	assert_string_equal(ftr_strbuf_str(&all.notes),
			    "patchable: 1 function patched\nleaf.so: 1 function patched\n");
	ftr_modules_fini(&all);
}

static void test_patch_options(void **state)
{
	compile(source, PATCHABLE, "patchable");
	assert_int_equal(patched_with("--patch", "main"), 1);
	assert_int_equal(patched_with("--patch", "mai"), 0);
	assert_int_equal(patched_with("--patch", "^mai"), 1);
	assert_int_equal(patched_with("--patch", "."), 1);
	assert_int_equal(patched_with("--patch", "*"), 1);
	assert_int_equal(patched_with("--patch", "*@patchable"), 1);
	assert_int_equal(patched_with("--patch", "main@other"), 0);
	assert_int_equal(patched_with("--patch", "other;main"), 1);
	assert_int_equal(patched_with("--unpatch", "main"), 0);
	assert_int_equal(patched_with("--unpatch", "other"), 1);
	assert_int_equal(patched_with("--unpatch", "*"), 0);
}

static void test_made_once_a_generation(void **state)
{
	const struct ftr_sections *sections;
	int fd;

	compile(source, "", "program");
	assert_int_equal(ftr_modules_switch(&modules, "plt", FTR_SWITCH_OFF), 0);
	assert_int_equal(ftr_modules_switch(&modules, "plt", FTR_SWITCH_ON), 0);
	assert_int_equal(modules.generation, 0);	/* no image has been answered */
	assert_int_equal(modules.switches.nr, 1);
	fd = ftr_modules_sections_fd(&modules, "program", true);
	assert_int_equal(ftr_modules_sections_fd(&modules, "program", true), fd);
	assert_int_equal(modules.files.nr, 1);
	modules.is_in_use = true;
	assert_int_equal(ftr_modules_switch(&modules, "name", FTR_SWITCH_ON), 0);
	assert_int_equal(modules.generation, 1);
	sections = sections_of(&modules, "program");
	assert_int_equal(sections->generation, 1);
	assert_int_equal(ftr_sections_switch(sections, "name"), FTR_SWITCH_ON);
	assert_int_equal(ftr_sections_switch(sections, "plt"), FTR_SWITCH_ON);
	assert_non_null(slot_of(sections, "puts"));
	ftr_sections_unmap(sections);
}

/* A plug-in that is compiled again while the program runs. */
static void test_another_file_of_that_path(void **state)
{
	const struct ftr_sections *sections;
	char id[sizeof(((struct ftr_elf_info *)0)->build_id)];

	compile(leaf, "-fPIC -shared -nostdlib -Wl,--build-id=0xaaaaaaaaaaaaaaaa", "plugin.so");
	snprintf(id, sizeof(id), "%s", ftr_modules_add(&modules, "plugin.so", false));
	assert_string_equal(id, "aaaaaaaaaaaaaaaa");
	assert_null(slot_of(sections_of(&modules, "plugin.so"), "putchar"));
	unlink("plugin.so");
	ftr_modules_look_again(&modules);
	assert_string_equal(ftr_modules_add(&modules, "plugin.so", false), "aaaaaaaaaaaaaaaa");
	compile(more, "-fPIC -shared -Wl,--build-id=0xbbbbbbbbbbbbbbbb", "plugin.so");
	ftr_modules_look_again(&modules);
	assert_string_equal(ftr_modules_add(&modules, "plugin.so", false), "bbbbbbbbbbbbbbbb");
	sections = sections_of(&modules, "plugin.so");
	assert_non_null(slot_of(sections, "putchar"));
	assert_int_equal(modules.files.nr, 2);
}

static void test_no_file(void **state)
{
	uint32_t bytes;

	assert_string_equal(ftr_modules_add(&modules, "missing", true), "");
	assert_null(ftr_sections_find(sections_of(&modules, "missing"), FTR_SECTION_LIBCALLS,
				      &bytes));
	assert_string_equal(ftr_modules_add(&modules, "/", true), "");
}

/* Cut at every place, and with bytes of it changed: no crash, and sections that are sound. */
static void test_damaged(void **state)
{
	size_t len, cut;
	unsigned round;
	char *image, *bad;

	compile(source, "-s", "program");
	image = object_read("program", &len);
	bad = malloc(len);
	assert_non_null(bad);
	srandom(1);
	for (cut = 0; cut < len; cut += cut < 1024 ? 16 : 509) {
		object_write("bad", image, cut);
		slot_of(sections_of(&modules, "bad"), "none");
	}
	for (round = 0; round < 300; round++) {
		memcpy(bad, image, len);
		for (cut = 0; cut < 20; cut++)
			bad[(size_t)random() % (cut < 10 ? 64 : len)] = (char)random();
		object_write("bad", bad, len);
		slot_of(sections_of(&modules, "bad"), "none");
	}
	free(bad);
	free(image);
}

static void test_symbols(void **state)
{
	struct ftr_uftrace_dir *dir;
	struct ftr_err err = { 0 };

	compile(source, "-pg", "instrumented");
	compile(source, "", "wanted");
	compile(source, "", "plain");
	assert_int_equal(ftr_uftrace_dir_open(&dir, "d", &err), 0);
	ftr_modules_add(&modules, "instrumented", false);
	ftr_modules_add(&modules, "wanted", true);
	ftr_modules_add(&modules, "plain", false);
	ftr_modules_store(&modules, dir);
	assert_int_equal(access("d/instrumented.sym", R_OK), 0);
	assert_int_equal(access("d/wanted.sym", R_OK), 0);
	assert_int_equal(access("d/plain.sym", R_OK), -1);
	ftr_modules_add(&modules, "plain", true);	/* later its symbols are needed after all */
	ftr_modules_store(&modules, dir);
	assert_int_equal(access("d/plain.sym", R_OK), 0);
	ftr_uftrace_dir_close(dir);
}

static bool library_is_wanted(const char *path)
{
	return ftr_modules_sections_fd(&modules, path, false) >= 0;
}

static void test_whose_calls_are_hooked(void **state)
{
	assert_true(library_is_wanted("/usr/lib/libz.so.1"));
	assert_true(library_is_wanted("libcurl.so"));
	assert_false(library_is_wanted("/lib/x86_64-linux-gnu/libc.so.6"));
	assert_false(library_is_wanted("/lib64/ld-linux-x86-64.so.2"));
	assert_false(library_is_wanted("/x/libmcount.so"));
	assert_false(library_is_wanted("libasan.so.8"));
	options = (struct section_options){ 0 };
	assert_false(library_is_wanted("libother.so"));	/* without --nest-libcall */
}

/* A program may be loaded as a library elsewhere. */
static void test_image_and_library(void **state)
{
	uint32_t bytes;

	compile(source, "", "libc.so");
	assert_non_null(ftr_sections_find(sections_of(&modules, "libc.so"), FTR_SECTION_LIBCALLS,
					  &bytes));
	assert_false(library_is_wanted("libc.so"));
	assert_non_null(sections_of(&modules, "libc.so"));
	assert_int_equal(modules.files.nr, 1);
}

/* A thread's name is reported by images alone, be they instrumented or not. */
static void test_name(void **state)
{
	const struct ftr_sections *sections;
	uint32_t bytes;

	compile(source, "", "program");
	options = (struct section_options){ 0 };
	assert_int_equal(ftr_modules_sections_fd(&modules, "program", true), -1);
	ftr_modules_fini(&modules);
	start(state);
	options = (struct section_options){ 0 };
	assert_int_equal(ftr_modules_switch(&modules, "name", FTR_SWITCH_ON), 0);
	sections = sections_of(&modules, "program");
	assert_int_equal(ftr_sections_switch(sections, "name"), FTR_SWITCH_ON);
	assert_null(ftr_sections_find(sections, FTR_SECTION_LIBCALLS, &bytes));
	assert_false(ftr_modules_is_traced(&modules, "program"));
	assert_false(library_is_wanted("libother.so"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_program), TEST(test_library_without_plt), TEST(test_nothing_to_say),
		TEST(test_made_once_a_generation), TEST(test_another_file_of_that_path),
		TEST(test_no_file), TEST(test_damaged), TEST(test_symbols),
		TEST(test_whose_calls_are_hooked), TEST(test_image_and_library), TEST(test_name),
		cmocka_unit_test(test_patch_sites), cmocka_unit_test(test_patch_options),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
