# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/prog/bits.c tests/prog/bits_values.c tests/prog/demo.c tests/prog/generator.h tests/prog/older_calls.h tests/prog/not-i386.txt
# What programs need of the machine that they run on.
EXTRA_DIST += tests/prog/aarch64/breakpoint.h tests/prog/aarch64/first_instructions.h \
	tests/prog/aarch64/midst.h tests/prog/aarch64/wide.h \
	tests/prog/x86_64/breakpoint.h tests/prog/x86_64/first_instructions.h \
	tests/prog/x86_64/midst.h tests/prog/x86_64/wide.h
# Traced programs: each is a test, run in every way it can be instrumented.  The longest comes first.
C_LOG_COMPILER = $(GUARD) $(srcdir)/tests/prog/run
CC_LOG_COMPILER = $(GUARD) $(srcdir)/tests/prog/run
# Of which there is much to record beside calls.
recorder_programs = \
	tests/prog/args.c \
	tests/prog/dlopen.c \
	tests/prog/exceptions.cc \
	tests/prog/exec.c \
	tests/prog/fork.c \
	tests/prog/libcalls.c \
	tests/prog/many_threads.c \
	tests/prog/memfd.c \
	tests/prog/nursery.c \
	tests/prog/orphans.cc \
	tests/prog/processes.c \
	tests/prog/recursion.c \
	tests/prog/sdt_sites.c \
	tests/prog/threads.c \
	tests/prog/untraced.c \
	tests/prog/vfork.c \
	tests/prog/vfork_threads.c
# Of the runtime in them.
runtime_programs = \
	tests/prog/creators.c \
	tests/prog/abi.c \
	tests/prog/abort.c \
	tests/prog/before_main.c \
	tests/prog/caught.cc \
	tests/prog/cleanups.cc \
	tests/prog/coroutine_storm.cc \
	tests/prog/coroutines.c \
	tests/prog/crowd.c \
	tests/prog/deep_throw.cc \
	tests/prog/denied.c \
	tests/prog/dropped.c \
	tests/prog/early.c \
	tests/prog/environment.c \
	tests/prog/environment_early.c \
	tests/prog/estimate.c \
	tests/prog/every_instruction.c \
	tests/prog/every_switch.c \
	tests/prog/exec_limit.c \
	tests/prog/exec_unreadable.c \
	tests/prog/fork_later.c \
	tests/prog/exit.c \
	tests/prog/filtered.c \
	tests/prog/first_instructions.c \
	tests/prog/generators.c \
	tests/prog/graph.c \
	tests/prog/fork_counts.c \
	tests/prog/fork_long.c \
	tests/prog/hostile.c \
	tests/prog/jumps.c \
	tests/prog/limits.c \
	tests/prog/locked.c \
	tests/prog/long_story.c \
	tests/prog/longjmp.c \
	tests/prog/max_stack.c \
	tests/prog/nested.c \
	tests/prog/no_plt.c \
	tests/prog/no_return.c \
	tests/prog/realign.c \
	tests/prog/registers.c \
	tests/prog/sanitized.c \
	tests/prog/scheduling.c \
	tests/prog/signals.c \
	tests/prog/small_stacks.c \
	tests/prog/stack_limit.c \
	tests/prog/stacks.c \
	tests/prog/storm.c \
	tests/prog/thread_ends.c \
	tests/prog/thread_exec.c \
	tests/prog/thread_local.cc \
	tests/prog/system.c \
	tests/prog/under_exit.c \
	tests/prog/turns.c \
	tests/prog/unwind_storm.cc \
	tests/prog/vectors.c
traced_programs = $(runtime_programs) $(recorder_programs)
test_areas += recorder_programs runtime_programs
aarch64_programs = tests/prog/sdt_aarch64.c
test_areas += aarch64_programs
# On 64-bit Arm but for those of not-aarch64.txt, which count as skipped.
if HAVE_TRACING_TESTS
TESTS += $(traced_programs)
endif
if ARCH_AARCH64
TESTS += $(traced_programs) $(aarch64_programs)
endif
# As 32-bit programs but for those of not-i386.txt, below tests/lib/with-i386 where the kernel does not run them.
.PHONY: check-32bit
if HAVE_MULTILIB
check-32bit:
	FTR_TEST_M32='$(MULTILIB_CFLAGS)' $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(traced_programs)'
endif
EXTRA_DIST += $(traced_programs) $(aarch64_programs) tests/prog/not-aarch64.txt tests/prog/run

# What the end-to-end tests build and trace; not tests by themselves.
EXTRA_DIST += \
	tests/prog/actions.c \
	tests/prog/conditions.c \
	tests/prog/attach_code.c \
	tests/prog/attach_exec.c \
	tests/prog/attach_exec_target.c \
	tests/prog/attach_fault.c \
	tests/prog/attach_library.c \
	tests/prog/attach_opener.c \
	tests/prog/attach_sites.c \
	tests/prog/attach_storm.c \
	tests/prog/attach_successor.c \
	tests/prog/attach_switch.c \
	tests/prog/attach_vfork.c \
	tests/prog/attach_wide.c \
	tests/prog/attach_throw.cc \
	tests/prog/attached.c \
	tests/prog/controlled.c \
	tests/prog/deny_events.c \
	tests/prog/doctor_functions.c \
	tests/prog/errnos.c \
	tests/prog/examples.c \
	tests/prog/exec_filtered.c \
	tests/prog/exec_known.c \
	tests/prog/fake_tracee.c \
	tests/prog/fibers.cc \
	tests/prog/file_calls.c \
	tests/prog/filters.c \
	tests/prog/first_floats.c \
	tests/prog/flight.c \
	tests/prog/fork_orphan.c \
	tests/prog/graph_images.c \
	tests/prog/kernel_events.c \
	tests/prog/layout.c \
	tests/prog/libcalls_dependency.c \
	tests/prog/libcalls_library.c \
	tests/prog/libcalls_no_stub_left.c \
	tests/prog/libcalls_plugin.c \
	tests/prog/libcalls_program.c \
	tests/prog/loading_allocating.c \
	tests/prog/loading_auditor.c \
	tests/prog/loading_constructors.cc \
	tests/prog/loading_interposed.c \
	tests/prog/loading_interposer.c \
	tests/prog/loading_loader.c \
	tests/prog/loading_opener.c \
	tests/prog/loading_plug.c \
	tests/prog/loading_wrapped.c \
	tests/prog/crew.c \
	tests/prog/memory_loader.c \
	tests/prog/memory_maps.c \
	tests/prog/memory_own_malloc.c \
	tests/prog/memory_own_new.cc \
	tests/prog/memory_plugin.cc \
	tests/prog/memory_storm.c \
	tests/prog/memory_totals.c \
	tests/prog/net_calls.c \
	tests/prog/observed_32bit.c \
	tests/prog/observed_all.c \
	tests/prog/observed_deaths.c \
	tests/prog/observed_execthread.c \
	tests/prog/observed_functions.c \
	tests/prog/counted.c \
	tests/prog/native_callers.cc \
	tests/prog/native_jumps.c \
	tests/prog/native_stacks.c \
	tests/prog/observed_stacks.c \
	tests/prog/observed_instrumented.c \
	tests/prog/observed_names.c \
	tests/prog/observed_openers.c \
	tests/prog/observed_raw.c \
	tests/prog/observed_spawners.c \
	tests/prog/observed_stops.c \
	tests/prog/observed_storm.c \
	tests/prog/panic.rs \
	tests/prog/patched_filtered.c \
	tests/prog/patched_late.c \
	tests/prog/patched_linked.c \
	tests/prog/patched_loader.c \
	tests/prog/patched_overlap.c \
	tests/prog/patched_shown_again.c \
	tests/prog/patched_source.c \
	tests/prog/plain_handler.c \
	tests/prog/plain_machine.c \
	tests/prog/plain_no_new_code.c \
	tests/prog/plain_shapes.c \
	tests/prog/requests.cc \
	tests/prog/switches.c \
	tests/prog/sums_forever.c \
	tests/prog/sync_storm.cc \
	tests/prog/samples.c \
	tests/prog/steps.c \
	tests/prog/sync_waits.c \
	tests/prog/thread_calls.c \
	tests/prog/throw_storm.cc \
	tests/prog/top_busy.c \
	tests/prog/unfriendly_daemon.c \
	tests/prog/unfriendly_descriptors.c \
	tests/prog/unfriendly_hidden.c \
	tests/prog/unfriendly_ids.c \
	tests/prog/unfriendly_jail.c \
	tests/prog/unfriendly_many.c \
	tests/prog/unfriendly_namespaces.c \
	tests/prog/unfriendly_seer.c \
	tests/prog/unfriendly_stops.c \
	tests/prog/unfriendly_traps.c \
	tests/prog/unwinders_host.c \
	tests/prog/unwound.c \
	tests/prog/user_marks.c \
	tests/prog/values.c \
	tests/prog/values_boost.cc \
	tests/prog/values_containers.cc \
	tests/prog/values_cxx_shapes.cc \
	tests/prog/values_deletes.cc \
	tests/prog/values_library.c \
	tests/prog/values_paths.cc \
	tests/prog/values_shapes.c \
	tests/prog/values_shapes_lib.c \
	tests/prog/values_shapes_user.c \
	tests/prog/values_ranges.c \
	tests/prog/values_strings.cc \
	tests/prog/values_syscalls.c \
	tests/prog/values_sums.c \
	tests/prog/values_views.cc \
	tests/prog/values_wide.c \
	tests/prog/values_wild.c \
	tests/prog/victim.c \
	tests/prog/weights.c
