/* SPDX-License-Identifier: MIT */
/*
 * Processes that an emulator runs (qemu-user): to the kernel they are the emulator, whose file is
 * of another machine, and their code is data.
 */
#ifndef FTR_RECORD_EMULATED_H
#define FTR_RECORD_EMULATED_H

#include <stdbool.h>
#include <stdint.h>

/* Is what the kernel runs as @pid of another machine than this ftr? */
bool ftr_process_is_emulated(int32_t pid);

/* Is the file at @path an ELF file of this machine? */
bool ftr_is_own_elf(const char *path);

#endif /* FTR_RECORD_EMULATED_H */
