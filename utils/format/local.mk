# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/format/format.h
