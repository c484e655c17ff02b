/* SPDX-License-Identifier: MIT */
/* Telling the recorder of changes of code that it has to make (code_plan.h). */
#include "libmcount/channel.h"
#include "libmcount/code_plan.h"
#include "utils/base/rt/sys.h"

void ftr_code_plan_send(const struct ftr_code_plan *plan)
{
	struct ftr_channel_message message = {
		.magic = FTR_CHANNEL_MAGIC,
		.type = FTR_CHANNEL_CODE,
		.pid = (int32_t)ftr_sys0(SYS_getpid),
		.tid = (int32_t)ftr_sys0(SYS_gettid),
		.time = plan->nr,
		.base = (uintptr_t)plan->v,
	};

	if (!ftr_channel_turn_take())
		return;
	ftr_channel_ask(&message, "", NULL);
	ftr_channel_turn_give();
}
