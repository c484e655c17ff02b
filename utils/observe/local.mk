# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/observe/decode.c \
	utils/observe/decode.h \
	utils/observe/decode_file.c \
	utils/observe/decode_row.h \
	utils/observe/filter.c \
	utils/observe/filter.h \
	utils/observe/observer.c \
	utils/observe/observer.h \
	utils/observe/run.c \
	utils/observe/space.c \
	utils/observe/space.h \
	utils/observe/stack.c \
	utils/observe/stack.h \
	utils/observe/task.c \
	utils/observe/task.h \
	utils/observe/tracee.c \
	utils/observe/tracee.h \
	utils/observe/unwind.h
if HAVE_STACKS
libftr_a_SOURCES += utils/observe/unwind_libunwind.c
else
libftr_a_SOURCES += utils/observe/unwind_none.c
endif
