# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/observe/call.c \
	utils/observe/comm.c \
	utils/observe/decode.c \
	utils/observe/decode.h \
	utils/observe/exec.c \
	utils/observe/exec.h \
	utils/observe/filter.c \
	utils/observe/filter.h \
	utils/observe/gate.c \
	utils/observe/job.c \
	utils/observe/job.h \
	utils/observe/life.c \
	utils/observe/observer.c \
	utils/observe/observer.h \
	utils/observe/process.c \
	utils/observe/row.h \
	utils/observe/state.h \
	utils/observe/task.c \
	utils/observe/tracee.c \
	utils/observe/tracee.h
