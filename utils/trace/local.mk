# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/trace/args.c \
	utils/trace/args.h \
	utils/trace/calls.c \
	utils/trace/calls.h \
	utils/trace/event.h \
	utils/trace/format.h \
	utils/trace/func.h \
	utils/trace/info.h \
	utils/trace/input.h \
	utils/trace/library.c \
	utils/trace/library.h \
	utils/trace/merge.c \
	utils/trace/merge.h \
	utils/trace/per_task.c \
	utils/trace/per_task.h \
	utils/trace/pipeline.c \
	utils/trace/pipeline.h \
	utils/trace/pump.c \
	utils/trace/pump.h \
	utils/trace/range.c \
	utils/trace/range.h \
	utils/trace/resolve.c \
	utils/trace/select.c \
	utils/trace/select.h \
	utils/trace/session.c \
	utils/trace/session.h \
	utils/trace/sink.c \
	utils/trace/sink.h \
	utils/trace/source.h \
	utils/trace/stack.c \
	utils/trace/stack.h \
	utils/trace/task.h \
	utils/trace/threshold.c \
	utils/trace/threshold.h \
	utils/trace/trace.c \
	utils/trace/trace.h
