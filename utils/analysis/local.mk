# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/analysis/build.c \
	utils/analysis/build.h \
	utils/analysis/compile.c \
	utils/analysis/compile.h \
	utils/analysis/stats.c \
	utils/analysis/stats.h
