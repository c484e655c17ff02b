/* SPDX-License-Identifier: MIT */
/* Which file really runs when a program is started: the end of the chain of #! lines. */
#ifndef FTR_RECORD_SYSCALL_EXEC_H
#define FTR_RECORD_SYSCALL_EXEC_H

#include "utils/record/syscall_tracee.h"

#define FTR_SYSCALL_CMDLINE_MAX ((size_t)8 << 20)	/* more than the kernel allows */

/* The interpreter of @program (absolute), resolved but for its last component; @program itself when it is no
 * script. */
void ftr_syscall_interpreter(const struct ftr_tracee *tracee, const struct ftr_strbuf *program,
			     struct ftr_strbuf *interpreter);

#endif /* FTR_RECORD_SYSCALL_EXEC_H */
