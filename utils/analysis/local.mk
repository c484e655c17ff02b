# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/analysis/stats.c \
	utils/analysis/stats.h
