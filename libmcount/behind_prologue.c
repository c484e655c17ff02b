/* SPDX-License-Identifier: MIT */
/*
 * -pg, where functions call the hook when they are past their prologue (arch/ISA/prologue.h).  For
 * the time of the hook the frame's last word holds the return address, as at other entries: what
 * the function keeps there, a register of its caller's or nothing yet, is put back.
 */
#include "arch/prologue.h"

#include "libmcount/channel.h"
#include "libmcount/hook.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

void ftr_prologue_enter(uintptr_t *record, uintptr_t child_ip) FTR_HIDDEN;

#define SIGNATURE_BITS 16

static __attribute__((noinline, cold)) void odd_prologue(void)
{
	if (ftr_arch_is_relocated(ftr_self) && ftr_state.control != NULL &&
	    !atomic_exchange(&ftr_state.has_odd_prologue, true))
		ftr_channel_warn("has functions whose prologue ftr does not understand: their "
				 "calls are not recorded; compile with "
				 "-fpatchable-function-entry=2");
}

void ftr_prologue_enter(uintptr_t *record, uintptr_t child_ip)
{
	const struct ftr_prologue prologue = ftr_arch_prologue(child_ip);
	uintptr_t ret = record[1] << SIGNATURE_BITS >> SIGNATURE_BITS, hooked, kept, *loc;

	if (unlikely(prologue.bytes == 0)) {
		odd_prologue();
		return;
	}
	loc = (uintptr_t *)((char *)record + prologue.bytes) - 1;
	kept = *loc;
	*loc = ret;
	atomic_signal_fence(memory_order_seq_cst);
	ftr_enter_mcount(loc, child_ip, NULL);
	atomic_signal_fence(memory_order_seq_cst);
	hooked = *loc;
	*loc = kept;
	if (hooked == ret)
		return;
	record[1] = prologue.sign == FTR_SIGN_NONE ? hooked :
		    ftr_arch_sign(hooked, prologue.sign == FTR_SIGN_B, (uintptr_t)(loc + 1));
}
