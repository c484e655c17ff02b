# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/cli/common.c \
	utils/cli/common.h \
	utils/cli/completion.c \
	utils/cli/completion.h \
	utils/cli/parse.c \
	utils/cli/parse.h \
	utils/cli/rules.c \
	utils/cli/rules.h \
	utils/cli/uftrace_options.c \
	utils/cli/uftrace_options.h
