# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/trace/args.h \
	utils/trace/event.h \
	utils/trace/func.h \
	utils/trace/info.h \
	utils/trace/pump.h \
	utils/trace/session.h \
	utils/trace/sink.h \
	utils/trace/source.h \
	utils/trace/task.h \
	utils/trace/trace.h
