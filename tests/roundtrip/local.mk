# SPDX-License-Identifier: MIT
# What is written can be read again; the checker of FXT files is written from the specification alone.
roundtrip_first_tests = tests/roundtrip/fxt_files.sh tests/roundtrip/kernel.sh
roundtrip_more_tests = tests/roundtrip/perfetto_rules.py
if HAVE_TRACING_TESTS
roundtrip_first_tests += tests/roundtrip/syscalls.sh
roundtrip_more_tests += tests/roundtrip/convert.sh tests/roundtrip/fxt_threads.py
endif
roundtrip_tests = $(roundtrip_more_tests) $(roundtrip_first_tests)
test_areas += roundtrip_first_tests roundtrip_more_tests
TESTS += $(roundtrip_tests)
EXTRA_DIST += \
	tests/roundtrip/convert.sh \
	tests/roundtrip/fxt_check.py \
	tests/roundtrip/perfetto_check.py \
	tests/roundtrip/fxt_files.sh \
	tests/roundtrip/fxt_threads.py \
	tests/roundtrip/kernel.sh \
	tests/roundtrip/kernel_pages.py \
	tests/roundtrip/perfetto_rules.py \
	tests/roundtrip/perf_switches.py \
	tests/roundtrip/syscalls.c \
	tests/roundtrip/syscalls.sh
