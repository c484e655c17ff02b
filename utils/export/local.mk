# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/export/graph.c \
	utils/export/graph.h
