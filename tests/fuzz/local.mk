# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/fuzz/replay
tests_fuzz_replay_SOURCES = tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h tests/fuzz/replay.c tests/fuzz/uftrace_fuzz.c
tests_fuzz_replay_LDADD = $(FTR_LIBS)
TESTS += tests/fuzz/uftrace_corpus.sh
EXTRA_DIST += tests/fuzz/uftrace_corpus.sh

# Needs clang: see uftrace_fuzz.c.
EXTRA_PROGRAMS += tests/fuzz/uftrace_libfuzzer
tests_fuzz_uftrace_libfuzzer_SOURCES = tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h tests/fuzz/uftrace_fuzz.c
tests_fuzz_uftrace_libfuzzer_LDADD = $(FTR_LIBS)
tests_fuzz_uftrace_libfuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += tests/fuzz/uftrace_libfuzzer

check_PROGRAMS += tests/fuzz/etrace_replay
tests_fuzz_etrace_replay_SOURCES = tests/fuzz/etrace_fuzz.c tests/fuzz/file_replay.c tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h
tests_fuzz_etrace_replay_LDADD = $(FTR_LIBS)
TESTS += tests/fuzz/etrace_corpus.sh
EXTRA_DIST += tests/fuzz/etrace_corpus.sh \
	tests/fuzz/corpus/etrace/kinds.etrace \
	tests/fuzz/corpus/etrace/recorded.etrace
EXTRA_PROGRAMS += tests/fuzz/etrace_libfuzzer
tests_fuzz_etrace_libfuzzer_SOURCES = tests/fuzz/etrace_fuzz.c tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h
tests_fuzz_etrace_libfuzzer_LDADD = $(FTR_LIBS)
tests_fuzz_etrace_libfuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += tests/fuzz/etrace_libfuzzer

check_PROGRAMS += tests/fuzz/fxt_replay
tests_fuzz_fxt_replay_SOURCES = tests/fuzz/file_replay.c tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h tests/fuzz/fxt_fuzz.c
tests_fuzz_fxt_replay_LDADD = $(FTR_LIBS)
TESTS += tests/fuzz/fxt_corpus.sh
EXTRA_DIST += tests/fuzz/corpus/fxt tests/fuzz/fxt.dict tests/fuzz/fxt_corpus.sh
EXTRA_PROGRAMS += tests/fuzz/fxt_libfuzzer
tests_fuzz_fxt_libfuzzer_SOURCES = tests/fuzz/fuzz.h tests/fuzz/graphs.c tests/fuzz/graphs.h tests/fuzz/fxt_fuzz.c
tests_fuzz_fxt_libfuzzer_LDADD = $(FTR_LIBS)
tests_fuzz_fxt_libfuzzer_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += tests/fuzz/fxt_libfuzzer
