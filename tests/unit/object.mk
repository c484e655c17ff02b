# SPDX-License-Identifier: MIT
# Those that need real ELF files compile them where they run.
EXTRA_DIST += tests/unit/object_util.h
UNIT_TESTS += \
	tests/unit/arch_test \
	tests/unit/demangle_test \
	tests/unit/elf_test \
	tests/unit/move_aarch64_test \
	tests/unit/param_count_test \
	tests/unit/prologue_aarch64_test \
	tests/unit/symtab_text_test
if HAVE_TRACING_TESTS
UNIT_TESTS += \
	tests/unit/debuginfo_test \
	tests/unit/patchable_test \
	tests/unit/symtab_test
endif
tests_unit_debuginfo_test_SOURCES = tests/unit/debuginfo_test.c tests/unit/object_util.c
tests_unit_debuginfo_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_elf_test_SOURCES = tests/unit/elf_test.c tests/unit/object_util.c
tests_unit_elf_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_patchable_test_SOURCES = tests/unit/object_util.c tests/unit/patchable_test.c
tests_unit_patchable_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_symtab_test_SOURCES = tests/unit/symtab_test.c tests/unit/object_util.c
tests_unit_symtab_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
