/* SPDX-License-Identifier: MIT */
/*
 * Virtual machines that know the stack by the return addresses that they find there, and fail at
 * others.
 */
#ifndef FTR_OBJECT_MACHINE_H
#define FTR_OBJECT_MACHINE_H

#include <stdbool.h>

#include "utils/object/elf_file.h"

/*
 * Is such a machine in the module?  Those of Java and .NET are told by the function that makes one;
 * others by 512 KB of code in a row without call frame information in a module that has such for
 * the rest: V8 has its code built in.
 */
bool ftr_elf_has_machine(const struct ftr_elf_file *file);

#endif /* FTR_OBJECT_MACHINE_H */
