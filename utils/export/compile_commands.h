/* SPDX-License-Identifier: MIT */
/* Compilation databases (compile_commands.json), as clang's tools and editors read them. */
#ifndef FTR_EXPORT_COMPILE_COMMANDS_H
#define FTR_EXPORT_COMPILE_COMMANDS_H

#include <stddef.h>

struct ftr_build;
struct ftr_ostream;

/*
 * Write an object for each translation of a source that is not temporary.  Returns how many;
 * failures to write stay in @out.
 */
size_t ftr_compile_commands_write(const struct ftr_build *build, struct ftr_ostream *out);

#endif /* FTR_EXPORT_COMPILE_COMMANDS_H */
