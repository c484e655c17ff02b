/* SPDX-License-Identifier: MIT */
/*
 * unshare and setns: the recorder's abstract address belongs to a network namespace.  It is
 * warned before the program leaves that, and also listens at a path from then on.
 */
#include <sched.h>

#include "libmcount/channel.h"
#include "libmcount/hook.h"

static void leave_report(void)
{
	ftr_channel_send(FTR_CHANNEL_LEAVE, "", NULL);
}

FTR_EXPORT int unshare(int flags)
{
	if ((flags & CLONE_NEWNET) != 0)
		leave_report();
	return REAL(unshare)(flags);
}

FTR_EXPORT int setns(int fd, int type)
{
	if (type == 0 || (type & CLONE_NEWNET) != 0)
		leave_report();
	return REAL(setns)(fd, type);
}
