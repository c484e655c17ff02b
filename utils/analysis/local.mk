# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/analysis/build.c \
	utils/analysis/build.h \
	utils/analysis/compile.c \
	utils/analysis/compile.h \
	utils/analysis/compare.c \
	utils/analysis/compare.h \
	utils/analysis/cpus.c \
	utils/analysis/cpus.h \
	utils/analysis/event_pairs.c \
	utils/analysis/event_pairs.h \
	utils/analysis/event_sums.c \
	utils/analysis/event_sums.h \
	utils/analysis/graph.c \
	utils/analysis/graph.h \
	utils/analysis/graph_focus.c \
	utils/analysis/graph_focus.h \
	utils/analysis/graph_sink.c \
	utils/analysis/graph_task.c \
	utils/analysis/graph_task.h \
	utils/analysis/histogram.c \
	utils/analysis/histogram.h \
	utils/analysis/limit.c \
	utils/analysis/limit.h \
	utils/analysis/memory_sums.c \
	utils/analysis/memory_sums.h \
	utils/analysis/slowest.c \
	utils/analysis/slowest.h \
	utils/analysis/stats.c \
	utils/analysis/stats.h \
	utils/analysis/sums.c \
	utils/analysis/sums.h \
	utils/analysis/syscalls.c \
	utils/analysis/syscalls.h \
	utils/analysis/value_sums.c \
	utils/analysis/value_sums.h
