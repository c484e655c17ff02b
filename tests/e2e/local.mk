# SPDX-License-Identifier: MIT
# What a user does with the commands.  The programs that are traced lie in tests/prog.  The longest come first.
# Of each thing that records, and of what is read, one test is in an area "first".
# Of what reads traces, whoever made them.
reading_first_tests = \
	tests/e2e/streams.py
reading_more_tests = \
	tests/e2e/load.py \
	tests/e2e/pack.py \
	tests/e2e/build.py \
	tests/e2e/completion.py \
	tests/e2e/cut.py \
	tests/e2e/foreign_fxt.py \
	tests/e2e/gates.py \
	tests/e2e/graph.py \
	tests/e2e/html.py \
	tests/e2e/html_serve.py \
	tests/e2e/html_browser.py \
	tests/e2e/html_lanes.py \
	tests/e2e/index.py \
	tests/e2e/interop.py \
	tests/e2e/merged.py \
	tests/e2e/module.py \
	tests/e2e/operand.py \
	tests/e2e/options.py \
	tests/e2e/packages.py \
	tests/e2e/prototypes.py \
	tests/e2e/rows.py \
	tests/e2e/swap.py \
	tests/e2e/tracedat.py \
	tests/e2e/tracedat_kernel.py \
	tests/e2e/tracedat_libraries.py \
	tests/e2e/tui.py
reading_tests = $(reading_more_tests) $(reading_first_tests)
# Of the runtime in the program, which has no sanitizers.
e2e_runtime_first_tests = \
	tests/e2e/attach_code.py \
	tests/e2e/unwinders.py
e2e_runtime_more_tests = \
	tests/e2e/attach_events.py \
	tests/e2e/attach_library.py \
	tests/e2e/attach_server.py \
	tests/e2e/attach_switch.py \
	tests/e2e/multilib.py
e2e_runtime_tests = $(e2e_runtime_more_tests) $(e2e_runtime_first_tests)
# Of the runtime and of the recorder beside it.
e2e_both_first_tests = \
	tests/e2e/attach.py \
	tests/e2e/record.py
e2e_both_more_tests = \
	tests/e2e/patched.py \
	tests/e2e/plain.py
# ... which calls, and what of them: by programs of several compilers, whatever the runtime was compiled by.
e2e_chosen_tests = \
	tests/e2e/filters.py \
	tests/e2e/libcalls.py \
	tests/e2e/native_stacks.py \
	tests/e2e/threads.py \
	tests/e2e/values.py \
	tests/e2e/values_random.py \
	tests/e2e/values_wide.py
e2e_both_tests = $(e2e_both_more_tests) $(e2e_chosen_tests) $(e2e_both_first_tests)
# Of the recorder, and what it knows of programs.
e2e_recorder_first_tests = \
	tests/e2e/control.py \
	tests/e2e/flight.py \
	tests/e2e/syscalls.py
e2e_recorder_more_tests = \
	tests/e2e/attach_exec.py \
	tests/e2e/actions.py \
	tests/e2e/control_patch.py \
	tests/e2e/doctor.py \
	tests/e2e/events.py \
	tests/e2e/examples.py \
	tests/e2e/exec_known.py \
	tests/e2e/files.py \
	tests/e2e/kernel_events.py \
	tests/e2e/kernel_samples.py \
	tests/e2e/live.py \
	tests/e2e/loading.py \
	tests/e2e/manners.py \
	tests/e2e/memory.py \
	tests/e2e/overhead.py \
	tests/e2e/net.py \
	tests/e2e/processes.py \
	tests/e2e/profiles.py \
	tests/e2e/record_hostile.py \
	tests/e2e/record_room.py \
	tests/e2e/remote.py \
	tests/e2e/samples.py \
	tests/e2e/scripts.py \
	tests/e2e/sdt.py \
	tests/e2e/serve.py \
	tests/e2e/summary.py \
	tests/e2e/symbols.py \
	tests/e2e/sync.py \
	tests/e2e/syscalls_life.py \
	tests/e2e/syscalls_shown.py \
	tests/e2e/syscalls_stacks.py \
	tests/e2e/syscalls_storm.py \
	tests/e2e/syscalls_unfriendly.py \
	tests/e2e/system.py \
	tests/e2e/top.py \
	tests/e2e/user.py \
	tests/e2e/weights.py
e2e_recorder_tests = $(e2e_recorder_more_tests) $(e2e_recorder_first_tests)
e2e_first_tests = $(reading_first_tests) $(e2e_both_first_tests) $(e2e_recorder_first_tests)
e2e_tests = $(reading_tests) $(e2e_runtime_tests) $(e2e_both_tests) $(e2e_recorder_tests)
# Where nothing can be recorded.
foreign_tests = tests/e2e/foreign.py
EXTRA_DIST += $(foreign_tests)
test_areas += reading_first_tests reading_more_tests e2e_runtime_first_tests e2e_runtime_more_tests e2e_both_first_tests e2e_both_more_tests e2e_chosen_tests \
	e2e_recorder_first_tests e2e_recorder_more_tests foreign_tests
if HAVE_PYTHON
if HAVE_TRACING_TESTS
TESTS += $(e2e_tests)
else
TESTS += $(foreign_tests)
endif
endif
EXTRA_DIST += $(e2e_tests) tests/e2e/recording.py tests/e2e/show_tracedat.c
# For ./check.
EXTRA_DIST += tests/e2e/installed tests/e2e/threads_checked
