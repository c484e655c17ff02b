/* SPDX-License-Identifier: MIT */
/* See invariant.h. */
#include "libmcount/invariant.h"

#include "libmcount/channel.h"

bool ftr_invariant_violated(const char *what)
{
	bool is_first = atomic_exchange(&ftr_state.arming, FTR_DISARMED) != FTR_DISARMED;

	ftr_thread_disarm(&ftr_self);
	if (is_first)
		ftr_channel_warn(what);
	return false;
}
