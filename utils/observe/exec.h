/* SPDX-License-Identifier: MIT */
/* What an exec starts: the file at the end of the chain of #! lines; its arguments. */
#ifndef FTR_OBSERVE_EXEC_H
#define FTR_OBSERVE_EXEC_H

#include "utils/observe/tracee.h"

#define FTR_SYSCALL_CMDLINE_MAX ((size_t)8 << 20)	/* more than the kernel allows */

/*
 * The interpreter of @program (absolute), resolved but for its last component; @program itself when
 * it is no script.
 */
void ftr_syscall_interpreter(const struct ftr_tracee *tracee, const struct ftr_strbuf *program,
			     struct ftr_strbuf *interpreter);

/*
 * The arguments at @addr (of an exec that failed), each with its NUL; of very many or long ones the
 * first.
 */
void ftr_syscall_read_argv(const struct ftr_tracee *tracee, uint64_t addr, struct ftr_strbuf *args);

#endif /* FTR_OBSERVE_EXEC_H */
