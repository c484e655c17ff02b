/* SPDX-License-Identifier: MIT */
/* Symbols of real ELF files: every way to link and strip one, and every way to damage one. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/object_util.h"
#include "utils/object/symtab.h"

static const char program[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"int watched = 5;\n"
	"static volatile int hidden_data = 6;\n"
	"__attribute__((noinline)) static int hidden(int x) { return x + hidden_data; }\n"
	"__attribute__((noinline, weak)) int feeble(int x) { return x + watched; }\n"
	"__attribute__((noinline)) int exposed(int x) { return hidden(x) + feeble(x); }\n"
	"static void *pick(void) { return exposed; }\n"
	"int chosen(int) __attribute__((ifunc(\"pick\")));\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	char *copy = strdup(argv[0]);\n"
	"	void (*release)(void *) = free;\n"
	"	printf(\"%d %zu %p\\n\", exposed(argc) + chosen(1), strlen(copy), (void *)release);\n"
	"	release(copy);\n"
	"	free(NULL);\n"
	"	return 0;\n"
	"}\n";

static int load(struct ftr_symtab *tab, const char *path)
{
	struct ftr_err err = { 0 };
	int ret;

	ftr_symtab_init(tab);
	ret = ftr_symtab_load_elf(tab, path, &err);
	assert_int_equal(ret, -err.code);
	if (ret < 0)
		assert_non_null(strstr(err.text, path));
	return ret;
}

static const struct ftr_symbol *by_name(const struct ftr_symtab *tab, const char *name, char type)
{
	for (size_t i = 0; i < tab->nr; i++) {
		if (strcmp(tab->symbols[i].name, name) == 0 && tab->symbols[i].type == type)
			return &tab->symbols[i];
	}
	return NULL;
}

static void expect_sorted(const struct ftr_symtab *tab)
{
	for (size_t i = 1; i < tab->nr; i++)
		assert_true(tab->symbols[i - 1].addr < tab->symbols[i].addr);
	for (size_t i = 0; i < tab->nr; i++)
		assert_ptr_equal(ftr_symtab_find(tab, tab->symbols[i].addr), &tab->symbols[i]);
}

static void build(const char *name, const char *flags)
{
	object_write("prog.c", program, strlen(program));
	object_run(TEST_CC " -g -O1 -fno-builtin -w %s prog.c -o %s", flags, name);
}

static void program_symbols(void **state)
{
	struct ftr_symtab tab;

	build("prog", "-fPIE -pie");
	assert_int_equal(load(&tab, "prog"), 0);
	expect_sorted(&tab);
	assert_non_null(by_name(&tab, "main", 'T'));
	assert_non_null(by_name(&tab, "hidden", 't'));
	assert_non_null(by_name(&tab, "feeble", 'w'));
	assert_non_null(by_name(&tab, "exposed", 'T'));
	assert_non_null(by_name(&tab, "watched", 'D'));
	assert_non_null(by_name(&tab, "hidden_data", 'd'));
	assert_non_null(by_name(&tab, "chosen", 'T'));	/* at the address of pick, which is local */
	assert_true(by_name(&tab, "exposed", 'T')->size > 0);
	assert_string_equal(tab.path, "prog");
	ftr_symtab_fini(&tab);
}

/* What the disassembler says of slots: "0000000000001030 <strlen@plt>:". */
static void expect_slots_as_objdump(const struct ftr_symtab *tab, const char *path)
{
	char command[256];
	char line[512];
	size_t nr = 0;
	FILE *dump;

	snprintf(command, sizeof(command), "objdump -d %s", path);
	dump = popen(command, "r");
	assert_non_null(dump);
	while (fgets(line, sizeof(line), dump) != NULL) {
		unsigned long addr;
		char name[256];
		char *end;
		const struct ftr_symbol *symbol;

		if (sscanf(line, "%lx <%255[^>]>:", &addr, name) != 2)
			continue;
		end = strstr(name, "@plt");
		if (end == NULL || strcmp(end, "@plt") != 0 || strchr(name, '*') != NULL)
			continue;
		*end = '\0';
		symbol = ftr_symtab_find(tab, addr & 0x3ffff);
		assert_non_null(symbol);
		assert_int_equal(symbol->type, 'P');
		assert_string_equal(symbol->name, name);
		assert_int_equal(symbol->addr, addr & 0x3ffff);
		nr++;
	}
	assert_int_equal(pclose(dump), 0);
	assert_true(nr > 0);
}

static const char *const layouts[] = {
	"-fPIE -pie -fcf-protection=none -Wl,-z,lazy",
	"-fPIE -pie -fcf-protection=none -Wl,-z,now",
	"-fPIE -pie -fcf-protection=full -Wl,-z,lazy",
	"-fPIE -pie -fcf-protection=full -Wl,-z,now -Wl,-z,ibtplt",
	"-fno-pie -no-pie -fcf-protection=full",
	"-fno-pie -no-pie -fcf-protection=none",
};

static void plt_slots_of_every_layout(void **state)
{
	if (!object_have("objdump"))
		skip();
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct ftr_symtab tab;

		build("slots", layouts[i]);
		assert_int_equal(load(&tab, "slots"), 0);
		expect_sorted(&tab);
		assert_non_null(by_name(&tab, "strlen", 'P'));
		assert_non_null(by_name(&tab, "printf", 'P'));
		expect_slots_as_objdump(&tab, "slots");
		ftr_symtab_fini(&tab);
		object_run("strip slots");
		assert_int_equal(load(&tab, "slots"), 0);
		expect_slots_as_objdump(&tab, "slots");
		ftr_symtab_fini(&tab);
	}
}

static void absolute_programs_start_at_zero(void **state)
{
	struct ftr_symtab tab;

	build("fixed", "-fno-pie -no-pie");
	assert_int_equal(load(&tab, "fixed"), 0);
	assert_in_range(by_name(&tab, "main", 'T')->addr, 0x1000, 0xffff);
	ftr_symtab_fini(&tab);
}

static void expect_equal_tables(const struct ftr_symtab *a, const struct ftr_symtab *b)
{
	assert_int_equal(a->nr, b->nr);
	for (size_t i = 0; i < a->nr; i++) {
		assert_true(a->symbols[i].addr == b->symbols[i].addr);
		assert_int_equal(a->symbols[i].size, b->symbols[i].size);
		assert_int_equal(a->symbols[i].type, b->symbols[i].type);
		assert_string_equal(a->symbols[i].name, b->symbols[i].name);
	}
}

static void separate(const char *flags, const char *debug)
{
	build("whole", flags);
	object_run("objcopy --only-keep-debug whole %s", debug);
	object_run("objcopy --strip-all --add-gnu-debuglink=%s whole bare", debug);
}

static void separate_debug_files(void **state)
{
	static const char *const flags[] = { "-Wl,--build-id", "-Wl,--build-id=none" };
	struct ftr_symtab whole, bare;

	if (!object_have("objcopy"))
		skip();
	for (size_t i = 0; i < 2; i++) {
		separate(flags[i], "bare.debug");
		assert_int_equal(load(&whole, "whole"), 0);
		assert_int_equal(load(&bare, "bare"), 0);
		expect_equal_tables(&whole, &bare);
		ftr_symtab_fini(&bare);
		object_run("mkdir -p .debug && mv bare.debug .debug/");
		assert_int_equal(load(&bare, "bare"), 0);
		expect_equal_tables(&whole, &bare);
		ftr_symtab_fini(&bare);
		ftr_symtab_fini(&whole);
		object_run("rm -r .debug");
	}
}

static void debug_files_of_others_are_not_taken(void **state)
{
	static const char *const flags[] = { "-Wl,--build-id", "-Wl,--build-id=none" };
	struct ftr_symtab bare;

	if (!object_have("objcopy"))
		skip();
	for (size_t i = 0; i < 2; i++) {
		char other[64];

		separate(flags[i], "bare.debug");
		snprintf(other, sizeof(other), "%s -DOTHER -O0", flags[i]);
		build("other", other);
		object_run("objcopy --only-keep-debug other bare.debug");
		assert_int_equal(load(&bare, "bare"), 0);
		assert_null(by_name(&bare, "main", 'T'));
		assert_non_null(by_name(&bare, "strlen", 'P'));
		ftr_symtab_fini(&bare);
		object_run("rm bare.debug");
	}
}

static void stripped_libraries_keep_their_exports(void **state)
{
	struct ftr_symtab tab;

	build("lib.so", "-fPIC -shared");
	object_run("strip lib.so");
	assert_int_equal(load(&tab, "lib.so"), 0);
	expect_sorted(&tab);
	assert_non_null(by_name(&tab, "exposed", 'T'));
	assert_non_null(by_name(&tab, "feeble", 'w'));
	assert_non_null(by_name(&tab, "exposed", 'P'));
	assert_null(by_name(&tab, "hidden", 't'));
	ftr_symtab_fini(&tab);
}

/* As distributions make it: the symbols that .dynsym lacks, packed by xz into a section. */
static void mini_debug_info(void **state)
{
	struct ftr_symtab tab;

	if (!object_have("objcopy") || !object_have("xz"))
		skip();
	build("mini", "-fPIC -shared");
	object_run("objcopy --only-keep-debug mini mini.dbg && objcopy -g mini.dbg mini.small && "
		   "xz -kf mini.small && objcopy --strip-all "
		   "--add-section .gnu_debugdata=mini.small.xz mini mini.bare");
	assert_int_equal(load(&tab, "mini.bare"), 0);
	expect_sorted(&tab);
	assert_non_null(by_name(&tab, "exposed", 'T'));
	assert_non_null(by_name(&tab, "hidden", 't'));
	ftr_symtab_fini(&tab);
}

static void one_name_an_address(void **state)
{
	static const char source[] =
		"static int zlocal(void) { return 1; }\n"
		"int __aglobal(void) __attribute__((alias(\"zlocal\")));\n"
		"int bweak(void) __attribute__((weak, alias(\"zlocal\")));\n"
		"int global_long(void) { return 2; }\n"
		"int global(void) __attribute__((alias(\"global_long\")));\n"
		"int aweak(void) __attribute__((weak, alias(\"global_long\")));\n"
		"__asm__(\".globl nosize\\n.type nosize,@function\\nnosize: nop; nop; ret\\n\");\n";
	const struct ftr_symbol *symbol;
	struct ftr_symtab tab;

	object_write("alias.c", source, sizeof(source) - 1);
	object_run(TEST_CC " -O1 -fPIC -shared alias.c -o alias.so");
	assert_int_equal(load(&tab, "alias.so"), 0);
	expect_sorted(&tab);
	assert_non_null(by_name(&tab, "bweak", 'w'));	/* no underscores: what people call it */
	assert_null(by_name(&tab, "__aglobal", 'T'));
	assert_null(by_name(&tab, "zlocal", 't'));
	assert_non_null(by_name(&tab, "global", 'T'));
	assert_null(by_name(&tab, "aweak", 'w'));
	symbol = by_name(&tab, "nosize", 'T');
	assert_non_null(symbol);
	assert_int_equal(symbol->size, 0);
	assert_ptr_equal(ftr_symtab_find(&tab, symbol->addr + 2), symbol);
	ftr_symtab_fini(&tab);
}

static void find_respects_sizes(void **state)
{
	struct ftr_symbol symbols[] = {
		{ 0x100, 0x100, 'T', "outer" }, { 0x140, 0x10, 't', "inner" },
		{ 0x300, 0, 'T', "open" },	{ 0x400, 0x10, 'T', "last" },
	};
	struct ftr_symtab tab;

	ftr_symtab_init(&tab);
	assert_null(ftr_symtab_find(&tab, 0));
	tab.symbols = symbols;
	tab.nr = 4;
	assert_null(ftr_symtab_find(&tab, 0xff));
	assert_string_equal(ftr_symtab_find(&tab, 0x100)->name, "outer");
	assert_string_equal(ftr_symtab_find(&tab, 0x14f)->name, "inner");
	assert_string_equal(ftr_symtab_find(&tab, 0x150)->name, "outer");
	assert_string_equal(ftr_symtab_find(&tab, 0x1ff)->name, "outer");
	assert_null(ftr_symtab_find(&tab, 0x200));
	assert_string_equal(ftr_symtab_find(&tab, 0x3ff)->name, "open");
	assert_string_equal(ftr_symtab_find(&tab, 0x40f)->name, "last");
	assert_null(ftr_symtab_find(&tab, 0x410));
	assert_null(ftr_symtab_find(&tab, UINT64_MAX));
	ftr_symtab_fini(&tab);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct ftr_symtab tab;

	object_write("script", "#!/bin/sh\n", 10);
	object_write("empty", "", 0);
	assert_int_equal(load(&tab, "script"), -ENOEXEC);
	assert_int_equal(load(&tab, "empty"), -ENOEXEC);
	assert_int_equal(load(&tab, "missing"), -ENOENT);
	assert_int_equal(load(&tab, "/"), -EISDIR);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(load(&tab, "fifo"), -ENOEXEC);
}

static void try_damaged(const char *path)
{
	struct ftr_symtab tab;
	int ret = load(&tab, path);

	assert_true(ret == 0 || ret == -ENOEXEC || ret == -ENODATA);
	expect_sorted(&tab);
	ftr_symtab_fini(&tab);
}

static void truncated_files(void **state)
{
	size_t len;
	char *bytes;

	build("cut", "-fPIE -pie");
	bytes = object_read("cut", &len);
	for (size_t at = 0; at < len; at += at < 0x400 ? 7 : 97) {
		object_write("cut.part", bytes, at);
		try_damaged("cut.part");
	}
	free(bytes);
}

/* The headers, the section headers, and then some everywhere. */
static void flipped_bytes(void **state)
{
	static const unsigned char patterns[] = { 0x00, 0xff, 0x80 };
	size_t len;
	char *bytes;

	build("flip", "-fPIE -pie");
	bytes = object_read("flip", &len);
	for (size_t at = 0; at < len; at += at < 0x340 || at > len - 0x900 ? 3 : 211) {
		char saved = bytes[at];

		for (size_t i = 0; i < sizeof(patterns); i++) {
			bytes[at] = (char)patterns[i];
			object_write("flip.part", bytes, len);
			try_damaged("flip.part");
		}
		bytes[at] = saved;
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_symbols),
		cmocka_unit_test(plt_slots_of_every_layout),
		cmocka_unit_test(absolute_programs_start_at_zero),
		cmocka_unit_test(separate_debug_files),
		cmocka_unit_test(debug_files_of_others_are_not_taken),
		cmocka_unit_test(stripped_libraries_keep_their_exports),
		cmocka_unit_test(mini_debug_info),
		cmocka_unit_test(one_name_an_address),
		cmocka_unit_test(find_respects_sizes),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(truncated_files),
		cmocka_unit_test(flipped_bytes),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
