# SPDX-License-Identifier: MIT
# What only a whole system of 64-bit Arm shows, emulated (tests/system/aarch64): tests that trace, use perf, tracefs
# and seccomp.  Run there, by its compiler.
system_tests = \
	tests/e2e/attach.py \
	tests/e2e/attach_code.py \
	tests/e2e/attach_events.py \
	tests/e2e/attach_exec.py \
	tests/e2e/attach_library.py \
	tests/e2e/attach_server.py \
	tests/e2e/attach_switch.py \
	tests/unit/attach_code_test \
	tests/unit/attach_stubs_test \
	tests/unit/remote_aarch64_test \
	tests/e2e/events.py \
	tests/e2e/kernel_events.py \
	tests/e2e/syscalls.py \
	tests/e2e/syscalls_life.py \
	tests/e2e/syscalls_shown.py \
	tests/e2e/syscalls_stacks.py \
	tests/e2e/syscalls_unfriendly.py
EXTRA_DIST += tests/system/aarch64 tests/system/debian-arm64 tests/system/guest
.PHONY: check-system
check-system:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(system_tests)' CC=gcc CXX=g++
