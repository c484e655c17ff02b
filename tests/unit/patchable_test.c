/* SPDX-License-Identifier: MIT */
/* Functions with room for a call at their entry, in ELF files of every compiler and linker. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/object_util.h"
#include "utils/object/elf.h"
#include "utils/object/patchable.h"
#include "utils/object/symtab.h"

static const char source[] =
	"#include <stdlib.h>\n"
	"__attribute__((noinline)) static int one(int x) { __asm__ volatile(\"\"); return x + 1; }\n"
	"__attribute__((noinline)) int two(int x) { if (x > 99) abort(); return one(x) * 2; }\n"
	"int main(int argc, char **argv) { return two(argc) - 4; }\n";

/* What is known of the file that was loaded last. */
static struct {
	struct ftr_elf_file file;
	struct ftr_symtab symbols;
	struct ftr_patchables found;
} loaded;

static void unload(void)
{
	ftr_patchables_fini(&loaded.found);
	ftr_symtab_fini(&loaded.symbols);
	ftr_elf_file_close(&loaded.file);
}

static void load(const char *path)
{
	assert_int_equal(ftr_elf_file_open(&loaded.file, path, NULL), 0);
	ftr_symtab_init(&loaded.symbols);
	ftr_symtab_load_elf(&loaded.symbols, path, NULL);
	assert_int_equal(ftr_patchables_load(&loaded.found, &loaded.file, &loaded.symbols), 0);
}

/* Compile with @flags; a test whose compiler or linker does not know them is skipped. */
static void made(const char *compiler, const char *flags)
{
	char command[512];

	object_write("p.c", source, sizeof(source) - 1);
	snprintf(command, sizeof(command), "%s -O2 -w %s p.c -o p 2>/dev/null", compiler, flags);
	if (system(command) != 0)
		skip();
	load("p");
}

static const struct ftr_symbol *symbol_named(const char *name)
{
	size_t i;

	for (i = 0; i < loaded.symbols.nr; i++) {
		if (loaded.symbols.symbols[i].type != 'P' &&
		    strcmp(loaded.symbols.symbols[i].name, name) == 0)
			return &loaded.symbols.symbols[i];
	}
	fail_msg("no symbol %s", name);
	return NULL;
}

/* The room of the function @name, @offset behind its start. */
static void check_room(const char *name, unsigned offset, unsigned bytes,
		       enum ftr_patchable_state state)
{
	uint64_t addr = symbol_named(name)->addr + loaded.file.base + offset;
	size_t i;

	for (i = 0; i < loaded.found.sites.nr && loaded.found.sites.v[i].addr != addr; i++)
		;
	if (i == loaded.found.sites.nr)
		fail_msg("no room of %s at %#llx", name, (unsigned long long)addr);
	assert_int_equal(loaded.found.sites.v[i].bytes, bytes);
	assert_int_equal(loaded.found.sites.v[i].state, state);
}

static void check_three(unsigned offset, unsigned bytes, enum ftr_patchable_state state)
{
	assert_int_equal(loaded.found.sites.nr, 3);
	check_room("one", offset, bytes, state);
	check_room("two", offset, bytes, state);
	check_room("main", offset, bytes, state);
	unload();
}

static void check_entries(const char *flags)
{
	made(TEST_CC, flags);
	assert_int_equal(ftr_patchable_kinds(&loaded.file), FTR_ELF_HOOK_PATCHABLE);
	check_three(0, 5, FTR_PATCHABLE_ENTRY);
}

static void test_patchable(void **state)
{
	check_entries("-fcf-protection=none -fpatchable-function-entry=5");
	check_entries("-fcf-protection=none -fpatchable-function-entry=5 -fno-pie -no-pie");
	check_entries("-fcf-protection=none -fpatchable-function-entry=5 -flto");
	check_entries("-fcf-protection=none -fpatchable-function-entry=5 -ffunction-sections "
		      "-Wl,--gc-sections -Wl,-z,separate-code");
	check_entries("-fcf-protection=none -fpatchable-function-entry=5 -shared -fPIC");
}

/* Linkers differ in what the section holds in the file: lld has zeros there. */
static void test_linkers(void **state)
{
	static const char *const linkers[] = { "bfd", "gold", "lld", "mold" };
	char flags[160];
	size_t i, nr = 0;

	for (i = 0; i < sizeof(linkers) / sizeof(linkers[0]); i++) {
		snprintf(flags, sizeof(flags), "ld.%s", linkers[i]);
		if (!object_have(flags) && !object_have(linkers[i]))
			continue;
		snprintf(flags, sizeof(flags), "-fcf-protection=none -fuse-ld=%s -pie -fPIE "
			 "-fpatchable-function-entry=5", linkers[i]);
		check_entries(flags);
		nr++;
	}
	assert_int_not_equal(nr, 0);
}

static void test_cet(void **state)
{
	made(TEST_CC, "-fcf-protection=full -fpatchable-function-entry=5");
	assert_int_equal(loaded.found.sites.nr, 3);
	check_room("two", 4, 5, FTR_PATCHABLE_ENTRY);
	check_room("main", 4, 5, FTR_PATCHABLE_ENTRY);
	unload();
}

/* With N,M the section names the first of M bytes before the function. */
static void test_before_the_function(void **state)
{
	made(TEST_CC, "-fcf-protection=none -fpatchable-function-entry=13,8");
	check_three(0, 5, FTR_PATCHABLE_ENTRY);
	made(TEST_CC, "-fcf-protection=none -fpatchable-function-entry=16,14");
	assert_int_equal(loaded.found.sites.nr, 3);
	check_room("two", 0, 0, FTR_PATCHABLE_SHORT);
	unload();
	made(TEST_CC, "-fcf-protection=full -fpatchable-function-entry=13,8");
	check_room("two", 4, 5, FTR_PATCHABLE_ENTRY);
	unload();
}

static void test_short(void **state)
{
	made(TEST_CC, "-fcf-protection=none -fpatchable-function-entry=4");
	check_three(0, 0, FTR_PATCHABLE_SHORT);
}

static void test_stripped(void **state)
{
	made(TEST_CC, "-s -fcf-protection=none -fpatchable-function-entry=5");
	assert_int_equal(loaded.found.sites.nr, 3);
	assert_int_equal(loaded.found.sites.v[0].state, FTR_PATCHABLE_ENTRY);
	unload();
}

#define NOP_MCOUNT "-pg -mrecord-mcount -mnop-mcount -fno-pie -no-pie "

static void test_mcount_loc(void **state)
{
	made(TEST_CC, NOP_MCOUNT "-mfentry -fcf-protection=none");
	assert_int_equal(ftr_patchable_kinds(&loaded.file), FTR_ELF_HOOK_MCOUNT_LOC);
	check_three(0, 5, FTR_PATCHABLE_ENTRY);
	made(TEST_CC, NOP_MCOUNT "-mfentry -fcf-protection=full");
	check_room("two", 4, 5, FTR_PATCHABLE_ENTRY);
	unload();
	made(TEST_CC, NOP_MCOUNT "-mno-fentry -fcf-protection=none");
	check_three(4, 5, FTR_PATCHABLE_PROLOGUE);
	made(TEST_CC, NOP_MCOUNT "-mfentry -s");
	assert_int_equal(loaded.found.sites.nr, 3);
	assert_int_equal(loaded.found.sites.v[0].state, FTR_PATCHABLE_UNKNOWN);
	unload();
}

/* What calls the hook already needs no patch. */
static void test_recorded_calls(void **state)
{
	made(TEST_CC, "-pg -mfentry -mrecord-mcount -fno-pie -no-pie");
	assert_int_equal(loaded.found.sites.nr, 0);
	unload();
}

static void test_clang(void **state)
{
	if (!object_have("clang"))
		skip();
	made("clang", "-fpatchable-function-entry=5");
	check_three(0, 5, FTR_PATCHABLE_ENTRY);
	made("clang", "-fpatchable-function-entry=12");
	assert_int_equal(loaded.found.sites.nr, 3);
	assert_in_range(loaded.found.sites.v[0].bytes, 5, 15);
	unload();
	made("clang", "-fxray-instrument -fxray-instruction-threshold=1");
	assert_int_equal(ftr_patchable_kinds(&loaded.file), FTR_ELF_HOOK_XRAY);
	check_room("two", 0, 11, FTR_PATCHABLE_ENTRY);
	check_room("main", 0, 11, FTR_PATCHABLE_ENTRY);
	unload();
}

static void test_none(void **state)
{
	made(TEST_CC, "");
	assert_int_equal(ftr_patchable_kinds(&loaded.file), 0);
	assert_int_equal(loaded.found.sites.nr, 0);
	unload();
}

/* Lists that lead anywhere: no byte of them is believed. */
static void test_damaged(void **state)
{
	GElf_Shdr shdr;
	size_t len, at;
	unsigned seed;
	char *bytes;

	made(TEST_CC, "-fno-pie -no-pie -fcf-protection=none -fpatchable-function-entry=5");
	assert_non_null(ftr_elf_section_find(&loaded.file, SHT_NULL, "__patchable_function_entries",
					     &shdr));
	unload();
	bytes = object_read("p", &len);
	for (seed = 1; seed < 200; seed++) {
		srand(seed);
		for (at = 0; at < shdr.sh_size; at++) {
			if (rand() % 3 == 0)
				bytes[shdr.sh_offset + at] = (char)rand();
		}
		object_write("damaged", bytes, len);
		load("damaged");
		for (at = 1; at < loaded.found.sites.nr; at++)
			assert_true(loaded.found.sites.v[at - 1].addr <
				    loaded.found.sites.v[at].addr);
		unload();
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patchable),
		cmocka_unit_test(test_linkers),
		cmocka_unit_test(test_cet),
		cmocka_unit_test(test_before_the_function),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_mcount_loc),
		cmocka_unit_test(test_recorded_calls),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, object_dir_setup, object_dir_teardown);
}
