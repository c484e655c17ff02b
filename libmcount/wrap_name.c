/* SPDX-License-Identifier: MIT */
/*
 * pthread_setname_np: where the kernel does not tell the recorder of threads' names, the runtime
 * does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"

/*
 * The clock of a thread's CPU time is made of its number: no system call, and it may be another
 * thread.
 */
static int32_t number_of(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(clock >> 3) : 0;
}

FTR_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int ret = REAL(pthread_setname_np)(thread, name);

	if (ret == 0)
		ftr_channel_tell_name(number_of(thread));
	return ret;
}
