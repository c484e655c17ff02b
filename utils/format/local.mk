# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/format/chrome_write.c \
	utils/format/dir.c \
	utils/format/dir.h \
	utils/format/format.h \
	utils/format/formats.def \
	utils/format/fxt_builtin.c \
	utils/format/fxt_builtin.h \
	utils/format/fxt_layout.h \
	utils/format/fxt_window.c \
	utils/format/fxt_window.h \
	utils/format/fxt_write.c \
	utils/format/fxt_write.h \
	utils/format/fxt_write_args.c \
	utils/format/fxt_write_event.c \
	utils/format/fxt_write_prologue.c \
	utils/format/fxt_write_table.c \
	utils/format/registry.c \
	utils/format/uftrace.h \
	utils/format/uftrace_read.c \
	utils/format/uftrace_read.h \
	utils/format/uftrace_read_data.c \
	utils/format/uftrace_read_event.c \
	utils/format/uftrace_read_fork.c \
	utils/format/uftrace_read_info.c \
	utils/format/uftrace_read_map.c \
	utils/format/uftrace_read_perf.c \
	utils/format/uftrace_read_spec.c \
	utils/format/uftrace_read_task.c \
	utils/format/uftrace_spec.c \
	utils/format/uftrace_spec.h \
	utils/format/uftrace_write.c \
	utils/format/uftrace_write.h \
	utils/format/uftrace_write_dir.c \
	utils/format/uftrace_write_dir.h \
	utils/format/uftrace_write_info.c \
	utils/format/uftrace_write_info.h
