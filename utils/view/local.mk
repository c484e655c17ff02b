# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/view/build.c \
	utils/view/build.h \
	utils/view/cpu_text.c \
	utils/view/cpu_text.h \
	utils/view/dump.c \
	utils/view/dump.h \
	utils/view/fields.c \
	utils/view/fields.h \
	utils/view/graph.c \
	utils/view/graph.h \
	utils/view/graph_task.c \
	utils/view/graph_task.h \
	utils/view/info.c \
	utils/view/info.h \
	utils/view/replay.c \
	utils/view/replay.h \
	utils/view/replay_flat.c \
	utils/view/replay_flat.h \
	utils/view/replay_line.c \
	utils/view/replay_line.h \
	utils/view/report.c \
	utils/view/report.h \
	utils/view/report_columns.c \
	utils/view/report_columns.h \
	utils/view/report_csv.c \
	utils/view/report_diff.c \
	utils/view/report_syscalls.c \
	utils/view/report_task.c \
	utils/view/slowest.c \
	utils/view/slowest.h \
	utils/view/unfinished.c \
	utils/view/unfinished.h
