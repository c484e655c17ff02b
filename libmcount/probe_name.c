/* SPDX-License-Identifier: MIT */
/* pthread_setname_np, and what wrap_prctl.c sees of PR_SET_NAME. */
#include "libmcount/probe_name.h"

#include <pthread.h>
#include <time.h>

#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/hook.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/base/rt/sys.h"

extern const struct ftr_probe ftr_probe_name FTR_HIDDEN;

static bool is_on(void)
{
	if (ftr_state.control == NULL || ftr_is_silent())
		return false;
	ftr_sections_refresh();
	return atomic_load_explicit(&ftr_state.names_are_reported, memory_order_relaxed);
}

static void name_update(uintptr_t low, const struct ftr_sections *sections)
{
	uint32_t flags = ftr_sections_switch(sections, ftr_probe_name.name);

	if (low == 0)
		atomic_store(&ftr_state.names_are_reported, (flags & FTR_SWITCH_ON) != 0);
}

void ftr_name_report(int32_t tid)
{
	struct ftr_channel_message message = { .magic = FTR_CHANNEL_MAGIC,
					       .type = FTR_CHANNEL_NAME };

	if (!is_on())
		return;
	message.pid = (int32_t)ftr_sys0(SYS_getpid);
	message.tid = tid != 0 ? tid : (int32_t)ftr_sys0(SYS_gettid);
	message.time = ftr_clock_read();
	ftr_channel_ask(&message, NULL, NULL);
}

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
		ftr_name_report(number_of(thread));
	return ret;
}

const struct ftr_probe ftr_probe_name = {
	.name = "name",
	.update = name_update,
};
