# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/record/channel.c \
	utils/record/channel.h \
	utils/record/collector.c \
	utils/record/collector.h \
	utils/record/collector_ring.c \
	utils/record/collectors.def \
	utils/record/control.c \
	utils/record/control.h \
	utils/record/launch.c \
	utils/record/launch.h \
	utils/record/maps.c \
	utils/record/maps.h \
	utils/record/modules.c \
	utils/record/modules.h \
	utils/record/plt_table.c \
	utils/record/plt_table.h \
	utils/record/process.c \
	utils/record/process.h \
	utils/record/program.c \
	utils/record/program.h \
	utils/record/recorder.c \
	utils/record/recorder.h \
	utils/record/recorder_answer.c \
	utils/record/recorder_info.c \
	utils/record/recorder_state.h \
	utils/record/ring.c \
	utils/record/ring.h \
	utils/record/store.h \
	utils/record/store_dir.c \
	utils/record/store_dir.h \
	utils/record/sysinfo.c \
	utils/record/sysinfo.h \
	utils/record/tick.c \
	utils/record/tick.h \
	utils/record/tick_clock.c \
	utils/record/tick_clock.h
libftr_a_SOURCES += \
	utils/record/syscall_decode.c \
	utils/record/syscall_decode.h \
	utils/record/syscall_exec.c \
	utils/record/syscall_exec.h \
	utils/record/syscall_filter.c \
	utils/record/syscall_filter.h \
	utils/record/syscall_gate.c \
	utils/record/syscall_job.c \
	utils/record/syscall_job.h \
	utils/record/syscall_observer.c \
	utils/record/syscall_observer.h \
	utils/record/syscall_tracee.c \
	utils/record/syscall_tracee.h
