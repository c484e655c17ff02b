/* SPDX-License-Identifier: MIT */
/*
 * -pg links gcrt1.o, which starts and ends gprof's sampling through these.  Its mcount is ours now,
 * so there is no call graph to write, and no use for its SIGPROF: they do nothing.
 */
#include "libmcount/hook.h"
#include "libmcount/probe.h"
#include "libmcount/state.h"

extern const struct ftr_probe ftr_probe_mcount FTR_HIDDEN;
FTR_EXPORT void __monstartup(unsigned long low, unsigned long high);
FTR_EXPORT void _mcleanup(void);
FTR_EXPORT void mcleanup(void);

void __monstartup(unsigned long low, unsigned long high)
{
	atomic_store(&ftr_state.after_monstartup, true);
}

void _mcleanup(void)
{
}

void mcleanup(void)
{
}

const struct ftr_probe ftr_probe_mcount = { .name = "mcount" };
