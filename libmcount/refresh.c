/* SPDX-License-Identifier: MIT */
/* Taking over sections that the recorder has replaced (libmcount/sections.h). */
#include "libmcount/channel.h"
#include "libmcount/module.h"
#include "libmcount/probe.h"
#include "libmcount/sections.h"
#include "utils/base/rt/sys.h"

#define SIG_BLOCK_ALL 0 /* <signal.h> SIG_BLOCK */
#define SIG_RESTORE 2	/* <signal.h> SIG_SETMASK */

/*
 * One thread at a time; the others, and handlers, go on with what there is.  The claim bears the
 * process's number: a child may be forked while another thread of its parent holds it.
 */
static bool refresh_claim(void)
{
	uint32_t pid = (uint32_t)ftr_sys0(SYS_getpid);
	uint32_t owner = atomic_load(&ftr_state.refreshing_pid);

	return owner != pid &&
	       atomic_compare_exchange_strong(&ftr_state.refreshing_pid, &owner, pid);
}

static bool any_is_in_libraries(void)
{
	return ftr_sections_any_switch(ftr_sections_image(), FTR_SWITCH_LIBRARIES);
}

static void image_replace(const struct ftr_sections *sections)
{
	ftr_sections_publish(sections);
	ftr_probes_update(0, sections);
}

/* Until none is newer.  One that cannot be fetched is not asked for again. */
static void sections_refresh(void)
{
	const struct ftr_control *control = ftr_state.control;
	const struct ftr_module_name image = { .is_known = true };
	const struct ftr_sections *sections;
	bool is_in_libraries;
	uint32_t generation;

	do {
		generation = atomic_load(&control->generation);
		is_in_libraries = any_is_in_libraries();
		if (ftr_module_ask(&image, &sections) == 0)
			image_replace(sections);
		ftr_modules_refresh(is_in_libraries || any_is_in_libraries());
		atomic_store(&ftr_state.generation, generation);
	} while (atomic_load(&control->generation) != generation && !ftr_recorder_is_gone());
}

/* Signals are blocked: a handler that jumps out of a refresh would never give the claim back. */
void ftr_sections_refresh_slow(void)
{
	uint64_t all = UINT64_MAX, old;

	if (ftr_is_silent() || ftr_recorder_is_gone())
		return;
	ftr_sys4(SYS_rt_sigprocmask, SIG_BLOCK_ALL, &all, &old, sizeof(all));
	if (refresh_claim()) {
		sections_refresh();
		atomic_store(&ftr_state.refreshing_pid, 0);
	}
	ftr_sys4(SYS_rt_sigprocmask, SIG_RESTORE, &old, NULL, sizeof(old));
}
