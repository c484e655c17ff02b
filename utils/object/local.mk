# SPDX-License-Identifier: MIT
libftr_a_SOURCES += \
	utils/object/code_range.c \
	utils/object/code_range.h \
	utils/object/debugfile.c \
	utils/object/debugfile.h \
	utils/object/debuginfo.c \
	utils/object/debuginfo.h \
	utils/object/demangle.c \
	utils/object/demangle.h \
	utils/object/dwarf_class.c \
	utils/object/dwarf_class.h \
	utils/object/dwarf_container.c \
	utils/object/dwarf_container.h \
	utils/object/dwarf_leaves.c \
	utils/object/dwarf_leaves.h \
	utils/object/dwarf_members.c \
	utils/object/dwarf_members.h \
	utils/object/dwarf_text.c \
	utils/object/dwarf_text.h \
	utils/object/dwarf_type.c \
	utils/object/dwarf_type.h \
	utils/object/elf.c \
	utils/object/elf.h \
	utils/object/elf_file.c \
	utils/object/elf_file.h \
	utils/object/needed.c \
	utils/object/needed.h \
	utils/object/patchable.c \
	utils/object/patchable.h \
	utils/object/plt.c \
	utils/object/plt.h \
	utils/object/signature.h \
	utils/object/symtab.c \
	utils/object/symtab.h \
	utils/object/symtab_build.h \
	utils/object/symtab_elf.c \
	utils/object/symtab_text.c
