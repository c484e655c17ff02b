# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/analysis/stats.h
