/* SPDX-License-Identifier: MIT */
/*
 * unshare and setns: the recorder's abstract address belongs to a network namespace.  It is told
 * before the program leaves that, and listens at a path as well from then on.
 */
#include <dlfcn.h>
#include <sched.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"

static void tell(void)
{
	ftr_channel_send(FTR_CHANNEL_LEAVE, "", NULL);
}

FTR_EXPORT int unshare(int flags)
{
	if ((flags & CLONE_NEWNET) != 0)
		tell();
	return REAL(unshare)(flags);
}

FTR_EXPORT int setns(int fd, int type)
{
	if (type == 0 || (type & CLONE_NEWNET) != 0)
		tell();
	return REAL(setns)(fd, type);
}
