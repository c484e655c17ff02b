# SPDX-License-Identifier: MIT
fxt_util = tests/unit/fxt_util.c tests/unit/fxt_util.h tests/unit/unit.h

UNIT_TESTS += tests/unit/fxt_random_test
tests_unit_fxt_random_test_SOURCES = tests/unit/fxt_random_test.c $(fxt_util)

UNIT_TESTS += tests/unit/fxt_write_test tests/unit/fxt_write_event_test
tests_unit_fxt_write_test_SOURCES = tests/unit/fxt_made.h tests/unit/fxt_write_test.c $(fxt_util)
tests_unit_fxt_write_event_test_SOURCES = \
	tests/unit/fxt_made.h \
	tests/unit/fxt_write_event_test.c \
	$(fxt_util)

UNIT_TESTS += tests/unit/chrome_write_test
tests_unit_chrome_write_test_SOURCES = tests/unit/chrome_write_test.c $(fxt_util)

UNIT_TESTS += tests/unit/swap_test
tests_unit_swap_test_SOURCES = tests/unit/swap_test.c tests/unit/unit.h

UNIT_TESTS += tests/unit/fxt_limit_test
tests_unit_fxt_limit_test_SOURCES = tests/unit/fxt_limit_test.c $(fxt_util)

UNIT_TESTS += tests/unit/fxt_map_test
tests_unit_fxt_map_test_SOURCES = tests/unit/fxt_map_test.c $(fxt_util)

UNIT_TESTS += tests/unit/fxt_shape_test
tests_unit_fxt_shape_test_SOURCES = tests/unit/fxt_shape_test.c $(fxt_util)
UNIT_TESTS += tests/unit/uftrace_kernel_test tests/unit/uftrace_kernel_damage_test
kernel_dir = tests/unit/kernel_dir.h tests/unit/kernel_pages.c tests/unit/kernel_pages.h \
	tests/unit/packed.h tests/unit/unit.h
tests_unit_uftrace_kernel_test_SOURCES = tests/unit/uftrace_kernel_test.c $(kernel_dir)
tests_unit_uftrace_kernel_damage_test_SOURCES = tests/unit/uftrace_kernel_damage_test.c $(kernel_dir)

UNIT_TESTS += tests/unit/uftrace_read_test
tests_unit_uftrace_read_test_SOURCES = tests/unit/packed.h tests/unit/stream.c tests/unit/stream.h \
	tests/unit/uftrace_read_test.c

UNIT_TESTS += tests/unit/run_test
made_dir = tests/unit/made_dir.c tests/unit/made_dir.h tests/unit/packed.h
tests_unit_run_test_SOURCES = tests/fuzz/fuzz.h tests/fuzz/runs.c tests/fuzz/runs.h \
	tests/unit/run_test.c $(made_dir)

UNIT_TESTS += tests/unit/text_ahead_test
tests_unit_text_ahead_test_SOURCES = tests/unit/text_ahead_test.c $(made_dir)

UNIT_TESTS += tests/unit/index_test
tests_unit_index_test_SOURCES = tests/unit/index_test.c $(made_dir)

UNIT_TESTS += tests/unit/fxt_read_test
tests_unit_fxt_read_test_SOURCES = tests/unit/fxt_read_test.c $(fxt_util)

UNIT_TESTS += tests/unit/ftrace_test tests/unit/ftrace_text_test tests/unit/kbuf_write_test
tests_unit_ftrace_test_SOURCES = tests/unit/ftrace_test.c tests/unit/unit.h
tests_unit_ftrace_text_test_SOURCES = tests/unit/ftrace_text_test.c tests/unit/unit.h
tests_unit_kbuf_write_test_SOURCES = tests/unit/kbuf_write_test.c tests/unit/unit.h

kernel_story = tests/unit/kernel_story.c tests/unit/kernel_story.h $(fxt_util)

UNIT_TESTS += tests/unit/kernel_export_test
tests_unit_kernel_export_test_SOURCES = tests/unit/kernel_export_test.c $(kernel_story)

UNIT_TESTS += tests/unit/fxt_order_test
tests_unit_fxt_order_test_SOURCES = tests/unit/fxt_order_test.c $(fxt_util)
tests_unit_fxt_order_test_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=pread

UNIT_TESTS += tests/unit/kernel_trip_test
tests_unit_kernel_trip_test_SOURCES = tests/unit/kernel_trip_test.c $(kernel_story)

UNIT_TESTS += tests/unit/pack_file_test
tests_unit_pack_file_test_SOURCES = tests/unit/pack_file_test.c tests/unit/unit.h

UNIT_TESTS += tests/unit/pack_block_test
tests_unit_pack_block_test_SOURCES = tests/unit/pack_block_test.c tests/unit/unit.h
