# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	arch/aarch64/arch.c \
	arch/aarch64/callconv.c \
	arch/aarch64/got_uses.c \
	arch/aarch64/got_uses.h \
	arch/aarch64/insn.c \
	arch/aarch64/insn.h \
	arch/aarch64/operand.c \
	arch/aarch64/patch.h \
	arch/aarch64/plain.h \
	arch/aarch64/plain_leads.c \
	arch/aarch64/remote.h \
	arch/aarch64/syscalls.c \
	arch/aarch64/task_regs.h \
	arch/arch.h \
	arch/arches.def \
	arch/callconv.h \
	arch/i386/arch.c \
	arch/i386/callconv.c \
	arch/i386/got_uses.c \
	arch/i386/got_uses.h \
	arch/i386/patch.h \
	arch/registry.c \
	arch/return_stubs.h \
	arch/syscalls.h \
	arch/x86/patch.h \
	arch/x86_64/arch.c \
	arch/x86_64/callconv.c \
	arch/x86_64/got_uses.c \
	arch/x86_64/got_uses.h \
	arch/x86_64/patch.h \
	arch/x86_64/operand.c \
	arch/x86_64/plain_leads.c \
	arch/x86_64/plain.h \
	arch/x86_64/remote.h \
	arch/x86_64/syscalls.c \
	arch/x86_64/task_regs.h
