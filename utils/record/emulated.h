/* SPDX-License-Identifier: MIT */
/*
 * Processes that an emulator runs (qemu-user): to the kernel they are the emulator, whose file is
 * of another machine, and their code is data.
 */
#ifndef FTR_RECORD_EMULATED_H
#define FTR_RECORD_EMULATED_H

#include <stdbool.h>
#include <stdint.h>

/* Is what the kernel runs as @pid, which has a runtime, not what that is loaded into? */
bool ftr_process_is_emulated(int32_t pid);

/* Is the file at @path an ELF file that ftr traces, and not that of @emulator? */
bool ftr_is_emulated_file(const char *path, const char *emulator);

#endif /* FTR_RECORD_EMULATED_H */
