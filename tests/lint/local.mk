# SPDX-License-Identifier: MIT
LINTS = \
	tests/lint/areas.py \
	tests/lint/debian.py \
	tests/lint/distributed.py \
	tests/lint/headers.py \
	tests/lint/layers.py \
	tests/lint/libftr_symbols.py \
	tests/lint/manuals.py \
	tests/lint/mcount_symbols.py \
	tests/lint/names.py \
	tests/lint/options.py \
	tests/lint/shifts.py \
	tests/lint/text.py
test_areas += LINTS
EXTRA_DIST += $(LINTS) \
	tests/lint/mcount-undefined.txt \
	tests/lint/sizes.py \
	tests/lint/tree.py
if HAVE_PYTHON
if HAVE_TRACING_TESTS
TESTS += $(LINTS)
endif
endif

# How long functions and files are.
sizes:
	@srcdir=$(abs_top_srcdir) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(srcdir)/tests/lint/sizes.py
.PHONY: sizes
