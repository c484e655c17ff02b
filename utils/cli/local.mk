# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/cli/common.h \
	utils/cli/option.h
