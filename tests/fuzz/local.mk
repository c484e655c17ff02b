# SPDX-License-Identifier: MIT
# One driver for every format of the table that is read.
fuzz_sources = \
	tests/fuzz/etrace_extra.c \
	tests/fuzz/fuzz.h \
	tests/fuzz/fxt_extra.c \
	tests/fuzz/graphs.c \
	tests/fuzz/graphs.h \
	tests/fuzz/outcome.c \
	tests/fuzz/packed.c \
	tests/fuzz/packed.h \
	tests/fuzz/runs.c \
	tests/fuzz/runs.h \
	tests/fuzz/target.c \
	tests/fuzz/uftrace_extra.c
check_PROGRAMS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = $(fuzz_sources) tests/fuzz/driver.c
tests_fuzz_replay_LDADD = $(FTR_LIBS)
# Where ftr records: emulated, on another machine's behalf, it takes ten minutes and finds nothing else.
if HAVE_TRACING_TESTS
TESTS += tests/fuzz/replay
endif

check_PROGRAMS += tests/fuzz/values
tests_fuzz_values_SOURCES = tests/fuzz/fuzz.h tests/fuzz/outcome.c tests/fuzz/values.c
tests_fuzz_values_LDADD = $(FTR_LIBS)
TESTS += tests/fuzz/values

check_PROGRAMS += tests/fuzz/rules
tests_fuzz_rules_SOURCES = tests/fuzz/fuzz.h tests/fuzz/rules.c
tests_fuzz_rules_LDADD = $(FTR_LIBS)
TESTS += tests/fuzz/rules
EXTRA_DIST += \
	tests/fuzz/corpus/debuginfo \
	tests/fuzz/corpus/etrace \
	tests/fuzz/corpus/fxt \
	tests/fuzz/corpus/operands \
	tests/fuzz/corpus/payloads \
	tests/fuzz/corpus/rules \
	tests/fuzz/corpus/shapes \
	tests/fuzz/corpus/sites \
	tests/fuzz/corpus/swap \
	tests/fuzz/corpus/trace.dat \
	tests/fuzz/corpus/uftrace \
	tests/fuzz/etrace.dict \
	tests/fuzz/fxt.dict \
	tests/fuzz/swap.dict \
	tests/fuzz/trace.dat.dict \
	tests/fuzz/uftrace.dict

# Needs clang: see libfuzzer.c.
EXTRA_PROGRAMS += tests/fuzz/libfuzzer
tests_fuzz_libfuzzer_SOURCES = $(fuzz_sources) tests/fuzz/libfuzzer.c
tests_fuzz_libfuzzer_LDADD = $(FTR_LIBS)
tests_fuzz_libfuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += tests/fuzz/libfuzzer
