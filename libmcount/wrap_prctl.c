/* SPDX-License-Identifier: MIT */
/*
 * prctl: strict seccomp and PR_SET_TSC take the processor's tick counter away from the thread that asks for
 * them; reading it would end the program.  (Done by a raw system call, this goes unnoticed.)
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "libmcount/clock.h"
#include "libmcount/hook.h"

FTR_EXPORT int prctl(int option, ...)
{
	unsigned long args[4];
	va_list ap;
	long ret;
	int i;

	va_start(ap, option);
	for (i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if ((option == PR_SET_SECCOMP && args[0] == SECCOMP_MODE_STRICT) ||
	    (option == PR_SET_TSC && args[0] == PR_TSC_SIGSEGV))
		ftr_clock_stop_ticks();
	ret = ftr_sys5(SYS_prctl, option, args[0], args[1], args[2], args[3]);
	if (ret >= 0)
		return (int)ret;
	errno = (int)-ret;
	return -1;
}
