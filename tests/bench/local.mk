# SPDX-License-Identifier: MIT
# make bench: the table of doc/BENCH.md.  BENCH_FLAGS=--smoke takes seconds.
EXTRA_DIST += \
	tests/bench/allocations.c \
	tests/bench/allocations.py \
	tests/bench/bench.py \
	tests/bench/filters.py \
	tests/bench/fleet.py \
	tests/bench/instructions.py \
	tests/bench/measure.c \
	tests/bench/memcpy.c \
	tests/bench/nested.c \
	tests/bench/packs.py \
	tests/bench/page.py \
	tests/bench/probes.c \
	tests/bench/serve.py \
	tests/bench/smoke.sh \
	tests/bench/stops.py \
	tests/bench/storm.c \
	tests/bench/storms.py \
	tests/bench/switches.c \
	tests/bench/switches.py \
	tests/bench/syscalls.py \
	tests/bench/throws.cc \
	tests/bench/throws.py \
	tests/bench/tracedat.py \
	tests/bench/values.c \
	tests/bench/values_cxx.cc \
	tests/bench/work.c
CLEANFILES += bench.json bench-smoke.json

if HAVE_PYTHON
if HAVE_TRACING_TESTS
TESTS += tests/bench/smoke.sh
endif
endif

bench: all
	srcdir=$(abs_top_srcdir) builddir=$(abs_top_builddir) FTR=$(abs_top_builddir)/ftr \
		PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)
	FTR=$(abs_top_builddir)/ftr $(PYTHON) $(srcdir)/tests/bench/syscalls.py
.PHONY: bench

# A large made-up data directory: tests/bench/mkdata DIR RECORDS [TASKS]
EXTRA_PROGRAMS += tests/bench/mkdata
tests_bench_mkdata_SOURCES = tests/bench/mkdata.c
tests_bench_mkdata_LDADD =
CLEANFILES += tests/bench/mkdata
