/* SPDX-License-Identifier: MIT */
/*
 * What the exported execve and execveat do (wrap_exec.c).  We call these, as libc's are first in
 * the scope of a libmcount.so that was loaded into a program that runs.
 */
#ifndef FTR_LIBMCOUNT_EXEC_H
#define FTR_LIBMCOUNT_EXEC_H

#include "libmcount/environ.h"
#include "libmcount/hook.h"

int ftr_exec(const char *path, ftr_strings argv, ftr_strings envp) FTR_HIDDEN;
int ftr_exec_at(int fd, const char *path, ftr_strings argv, ftr_strings envp, int flags) FTR_HIDDEN;

#endif /* FTR_LIBMCOUNT_EXEC_H */
