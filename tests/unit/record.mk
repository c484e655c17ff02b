# SPDX-License-Identifier: MIT
UNIT_TESTS += \
	tests/unit/maps_test \
	tests/unit/overhead_test \
	tests/unit/perf_test \
	tests/unit/pmu_test \
	tests/unit/ring_payload_test \
	tests/unit/ring_test \
	tests/unit/tick_test \
	tests/unit/uftrace_write_test
tests_unit_ring_payload_test_SOURCES = \
	tests/unit/ring_payload_test.c tests/unit/ring_util.c tests/unit/ring_util.h
tests_unit_ring_test_SOURCES = tests/unit/ring_test.c tests/unit/ring_util.c tests/unit/ring_util.h
tests_unit_overhead_test_SOURCES = tests/unit/overhead_test.c tests/unit/stream.c tests/unit/stream.h
UNIT_TESTS += tests/unit/collector_test tests/unit/event_word_test
UNIT_TESTS += tests/unit/flight_test tests/unit/summary_follow_test tests/unit/summary_test
UNIT_TESTS += tests/unit/channel_test tests/unit/lineage_test tests/unit/nursery_test tests/unit/process_test
UNIT_TESTS += tests/unit/system_text_test
if HAVE_TRACING_TESTS
UNIT_TESTS += tests/unit/modules_test tests/unit/recorder_test tests/unit/value_test
endif
tests_unit_modules_test_SOURCES = \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/modules_test.c \
	tests/unit/object_util.c
tests_unit_modules_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_recorder_test_SOURCES = \
	libmcount/sections.c \
	tests/unit/mcount_neighbours.c \
	tests/unit/object_util.c \
	tests/unit/recorder_test.c \
	tests/unit/section_util.h
tests_unit_recorder_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_unit_value_test_SOURCES = tests/unit/value_test.c tests/unit/object_util.c
tests_unit_value_test_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_CC='"$(CC)"' -DTEST_CXX='"$(CXX)"'
UNIT_TESTS += tests/unit/fanout_test
UNIT_TESTS += tests/unit/receive_test
if ARCH_AARCH64
UNIT_TESTS += tests/unit/remote_aarch64_test
endif
if HAVE_ATTACH
UNIT_TESTS += tests/unit/attach_code_test tests/unit/attach_stubs_test
endif
