# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/cli/closest.c \
	utils/cli/closest.h \
	utils/cli/common.c \
	utils/cli/common.h \
	utils/cli/completion.c \
	utils/cli/completion.h \
	utils/cli/later.c \
	utils/cli/later.h \
	utils/cli/option.c \
	utils/cli/option.h
