# SPDX-License-Identifier: MIT
EXTRA_DIST += \
	tests/e2e/fake_tracee.c \
	tests/e2e/foreign_fxt.py \
	tests/e2e/layout.c \
	tests/e2e/libcalls.py \
	tests/e2e/loading.py \
	tests/e2e/graph.py \
	tests/e2e/live.py \
	tests/e2e/operand.py \
	tests/e2e/options.py \
	tests/e2e/processes.py \
	tests/e2e/record.py \
	tests/e2e/recording.py \
	tests/e2e/fibers.cc \
	tests/e2e/panic.rs \
	tests/e2e/unwinders.py \
	tests/e2e/unwound.c \
	tests/e2e/victim.c
if HAVE_PYTHON
TESTS += \
	tests/e2e/foreign_fxt.py \
	tests/e2e/libcalls.py \
	tests/e2e/loading.py \
	tests/e2e/graph.py \
	tests/e2e/live.py \
	tests/e2e/operand.py \
	tests/e2e/options.py \
	tests/e2e/processes.py \
	tests/e2e/record.py \
	tests/e2e/unwinders.py
endif

EXTRA_DIST += tests/e2e/deny_events.c tests/e2e/events.py tests/e2e/switches.c
if HAVE_PYTHON
TESTS += tests/e2e/events.py
endif

syscall_tests = \
	tests/e2e/build.py \
	tests/e2e/syscalls.py \
	tests/e2e/syscalls_life.py \
	tests/e2e/syscalls_shown.py \
	tests/e2e/syscalls_unfriendly.py
EXTRA_DIST += $(syscall_tests)
if HAVE_PYTHON
TESTS += $(syscall_tests)
endif
# With Debian's uftrace, in both directions; "installed" is for ./check.
TESTS += tests/e2e/interop.sh
EXTRA_DIST += tests/e2e/installed tests/e2e/interop.sh tests/e2e/threads_checked
