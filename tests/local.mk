# SPDX-License-Identifier: MIT
# What tests find in their environment: where things are, and the compilers of this build.
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; export srcdir; \
	builddir='$(abs_top_builddir)'; export builddir; \
	FTR='$(abs_top_builddir)/ftr'; export FTR; \
	CC='$(CC)'; export CC; \
	SANITIZERS='$(SAN_CFLAGS)'; export SANITIZERS; \
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=0; export ASAN_OPTIONS; \
	UBSAN_OPTIONS=print_stacktrace=1; export UBSAN_OPTIONS; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	FTR_CONFIG=; export FTR_CONFIG; \
	unset FTR_CHANNEL LD_PRELOAD MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES;
TEST_EXTENSIONS = .sh .py .c .cc
# Every test runs under the guard: within limits, and nothing of it survives it.
GUARD = $(abs_top_builddir)/tests/lib/guard -v
LOG_COMPILER = $(GUARD)
SH_LOG_COMPILER = $(GUARD) bash
PY_LOG_COMPILER = $(GUARD) $(PYTHON)
# Without sanitizers: it is no part of what ships.
check_PROGRAMS += tests/lib/guard
tests_lib_guard_SOURCES = tests/lib/guard.c
tests_lib_guard_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
tests_lib_guard_LDFLAGS =
tests_lib_guard_LDADD =
EXTRA_DIST += tests/lib/with-i386
EXTRA_DIST += tests/lib/guard_test.py tests/lib/harness.py tests/lib/attaching.py
if HAVE_PYTHON
if HAVE_TRACING_TESTS
TESTS += tests/lib/guard_test.py
endif
endif

EXTRA_DIST += \
	quickstart \
	tests/packages.txt \
	tests/lib/beside_strace.py \
	tests/lib/browser.py \
	tests/lib/clickhouse.py \
	tests/lib/fxt_made.py \
	tests/lib/swap_made.py \
	tests/lib/tracedat_made.py \
	tests/lib/tracefs.py \
	tests/lib/count-results.awk \
	tests/lib/packages.sh \
	tests/lib/tree.sh \
	tests/real/balance.py \
	tests/real/builds.py \
	tests/real/debian \
	tests/real/duckdb.mjs \
	tests/real/fleet \
	tests/real/lib.sh \
	tests/real/long \
	tests/real/picture.py \
	tests/real/redis.commands \
	tests/real/run \
	tests/real/surroundings \
	tests/real/values.py \
	tests/real/work.lua \
	tests/real/work.py

# make starts the tests in the order of TESTS: the long ones first, so that none of them is left alone at the
# end while the other processors idle.  Fuzzing is the longest, a unit test takes no second.
# By areas, lists of tests that have one in common, ./check chooses what its builds run: with clang and with sanitizers
# some are left out.  Tests of rooms without areas run in each.
test_areas =
include tests/fuzz/local.mk
include tests/e2e/local.mk
include tests/prog/local.mk
include tests/roundtrip/local.mk
include tests/bench/local.mk
include tests/model/local.mk
include tests/golden/local.mk
include tests/lint/local.mk
include tests/system/local.mk

# One unit-test program a module, linked with what ships.  A program NAME_test is made of NAME_test.c and
# these libraries unless its lines say otherwise.
unit_libs = $(FTR_LIBS) $(CMOCKA_LIBS)
LDADD = $(unit_libs)
UNIT_TESTS =
if HAVE_CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

include tests/unit/base.mk
include tests/unit/etrace.mk
include tests/unit/object.mk
include tests/unit/trace.mk
include tests/unit/format.mk
include tests/unit/record.mk
include tests/unit/view.mk
include tests/unit/mcount.mk
include tests/unit/patch.mk
