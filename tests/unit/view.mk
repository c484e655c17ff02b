# SPDX-License-Identifier: MIT
UNIT_TESTS += \
	tests/unit/compare_test \
	tests/unit/cpus_test \
	tests/unit/event_sums_test \
	tests/unit/graph_task_test \
	tests/unit/graph_test \
	tests/unit/graph_write_test \
	tests/unit/histogram_test \
	tests/unit/html_spans_test \
	tests/unit/html_text_test \
	tests/unit/html_texts_test \
	tests/unit/limit_sums_test \
	tests/unit/option_test \
	tests/unit/rates_test \
	tests/unit/rows_paths_test \
	tests/unit/slowest_test \
	tests/unit/stats_test \
	tests/unit/timeline_test \
	tests/unit/weights_test
tests_unit_compare_test_SOURCES = tests/unit/compare_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_graph_test_SOURCES = tests/unit/graph_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_graph_write_test_SOURCES = \
	tests/unit/graph_write_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_html_spans_test_SOURCES = tests/unit/html_spans_test.c
tests_unit_html_texts_test_SOURCES = tests/unit/html_texts_test.c
tests_unit_slowest_test_SOURCES = tests/unit/slowest_test.c tests/unit/stream.c tests/unit/stream.h
tests_unit_timeline_test_SOURCES = tests/unit/timeline_test.c tests/unit/stream.c tests/unit/stream.h
