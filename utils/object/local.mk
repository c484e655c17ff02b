# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/object/demangle.h \
	utils/object/elf.h \
	utils/object/symtab.h
