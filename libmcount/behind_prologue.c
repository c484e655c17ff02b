/* SPDX-License-Identifier: MIT */
/*
 * -pg, where functions call the hook when they are past their prologue (arch/ISA/prologue.h), which
 * is read, or known by its instructions (arch/ISA/prologues.h).
 */
#include "arch/prologue.h"
#include "arch/prologues.h"
#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

void ftr_prologue_enter(uintptr_t *record, uintptr_t child_ip) FTR_HIDDEN;

static struct ftr_prologues_entry known[FTR_PROLOGUES_NR];

static __attribute__((noinline, cold)) void odd_prologue(void)
{
	if (ftr_arch_is_relocated(ftr_self) && ftr_state.control != NULL &&
	    !atomic_exchange(&ftr_state.has_odd_prologue, true))
		ftr_channel_warn("has functions whose prologue ftr does not understand: their "
				 "calls are not recorded; compile with "
				 "-fpatchable-function-entry=2");
}

static __attribute__((noinline, cold)) void enter_unknown(uintptr_t *record, uintptr_t child_ip)
{
	struct ftr_prologue prologue = ftr_arch_prologue(child_ip);

	if (unlikely(prologue.bytes == 0)) {
		odd_prologue();
		return;
	}
	ftr_prologues_add(known, child_ip);
	ftr_enter_behind(record, child_ip, ftr_prologues_word(prologue));
}

void ftr_prologue_enter(uintptr_t *record, uintptr_t child_ip)
{
	uint64_t said = ftr_prologues_find(known, child_ip);

	if (likely(said != 0))
		ftr_enter_behind(record, child_ip, said);
	else
		enter_unknown(record, child_ip);
}
