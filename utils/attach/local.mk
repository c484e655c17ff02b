# SPDX-License-Identifier: MIT
libftr_a_SOURCES += utils/attach/attach.h
if HAVE_ATTACH
libftr_a_SOURCES += \
	utils/attach/attach.c \
	utils/attach/call.h \
	utils/attach/callers.c \
	utils/attach/callers.h \
	utils/attach/changes.c \
	utils/attach/changes.h \
	utils/attach/code.c \
	utils/attach/code.h \
	utils/attach/image.c \
	utils/attach/image.h \
	utils/attach/leave.c \
	utils/attach/leave.h \
	utils/attach/place.c \
	utils/attach/place.h \
	utils/attach/refusal.c \
	utils/attach/refusal.h \
	utils/attach/remote.c \
	utils/attach/remote.h \
	utils/attach/runtime.c \
	utils/attach/runtime.h \
	utils/attach/steps.c \
	utils/attach/steps.h \
	utils/attach/stubs.c \
	utils/attach/stubs.h \
	utils/attach/tracee.c \
	utils/attach/tracee.h \
	utils/attach/words.c \
	utils/attach/words.h
if ARCH_X86_64
libftr_a_SOURCES += utils/attach/call_shown.c
else
libftr_a_SOURCES += utils/attach/call_hidden.c
endif
else
libftr_a_SOURCES += utils/attach/attach_none.c
endif
