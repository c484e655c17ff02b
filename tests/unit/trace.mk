# SPDX-License-Identifier: MIT
UNIT_TESTS += \
	tests/unit/args_test \
	tests/unit/coroutines_test \
	tests/unit/event_kind_test \
	tests/unit/filter_test \
	tests/unit/condition_test \
	tests/unit/pattern_test \
	tests/unit/rule_test \
	tests/unit/shape_test \
	tests/unit/trace_test \
	tests/unit/calls_test \
	tests/unit/clocks_test \
	tests/unit/pipeline_test \
	tests/unit/value_path_test \
	tests/unit/watch_test
EXTRA_DIST += tests/unit/rule_util.h
tests_unit_coroutines_test_SOURCES = tests/unit/coroutines_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_filter_test_SOURCES = tests/unit/filter_test.c tests/unit/stream.c tests/unit/stream.h
trace_util = tests/unit/stream.c tests/unit/stream.h tests/unit/trace_util.c tests/unit/trace_util.h
tests_unit_calls_test_SOURCES = tests/unit/calls_test.c $(trace_util)
tests_unit_pipeline_test_SOURCES = tests/unit/pipeline_test.c $(trace_util)
tests_unit_trace_test_SOURCES = tests/unit/trace_test.c $(trace_util)
tests_unit_watch_test_SOURCES = tests/unit/stream.c tests/unit/stream.h tests/unit/watch_test.c
