# SPDX-License-Identifier: MIT
libftr_a_SOURCES += arch/syscalls.h
if ARCH_X86_64
libftr_a_SOURCES += arch/x86_64/syscalls.c
endif
