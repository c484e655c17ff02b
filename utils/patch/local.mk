# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/patch/body.c \
	utils/patch/body.h \
	utils/patch/entries.c \
	utils/patch/entries.h \
	utils/patch/functions.c \
	utils/patch/functions.h \
	utils/patch/gaps.c \
	utils/patch/gaps.h \
	utils/patch/operands.c \
	utils/patch/operands.h \
	utils/patch/sites.c \
	utils/patch/sites.h \
	utils/patch/move.h
if ARCH_AARCH64
libftr_a_SOURCES += utils/patch/move_aarch64.c
else
if HAVE_ZYDIS
libftr_a_SOURCES += utils/patch/move_x86.c
else
libftr_a_SOURCES += utils/patch/move_none.c
endif
endif
