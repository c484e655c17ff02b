# SPDX-License-Identifier: MIT
# What is written can be read again; the checker of FXT files is written from the specification alone.
if HAVE_TRACING_TESTS
roundtrip_runtime_tests = \
	tests/roundtrip/convert.sh \
	tests/roundtrip/fxt_threads.py \
	tests/roundtrip/syscalls.sh
endif
roundtrip_tests = $(roundtrip_runtime_tests) \
	tests/roundtrip/fxt_files.sh \
	tests/roundtrip/kernel.sh \
	tests/roundtrip/perfetto_rules.py
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
