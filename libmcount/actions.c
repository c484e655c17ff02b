/* SPDX-License-Identifier: MIT */
/* See actions.h.  Part of the hook: without libc. */
#include "libmcount/actions.h"

#include <sys/resource.h>

#include "arch/values.h"
#include "libmcount/backtrace.h"
#include "libmcount/channel.h"
#include "libmcount/clock.h"
#include "libmcount/module.h"
#include "libmcount/pmu.h"
#include "utils/base/rt/sys.h"

#define STATM_VALUES 3
#define FAULT_VALUES 2
#define ERRNO_VALUE (STATM_VALUES + FAULT_VALUES)
#define PMU_VALUE (ERRNO_VALUE + 1)
static_assert(PMU_VALUE + FTR_PMU_COUNTERS == FTR_GATE_READ_VALUES, "one behind the other");

static uint64_t pmu_kind(unsigned kind)
{
	return (uint64_t)FTR_CALL_READ_CYCLE << kind;
}

static void event_put(struct ftr_thread *self, uint32_t id, const void *payload, uint32_t bytes)
{
	ftr_record_put_wanted(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), payload, bytes);
}

/* "3872 1902 1375 ...": sizes in pages. */
static bool statm_parse(const char *text, long bytes, uint64_t values[STATM_VALUES])
{
	unsigned i = 0;
	long at;

	values[0] = 0;
	for (at = 0; at < bytes; at++) {
		if (text[at] >= '0' && text[at] <= '9') {
			values[i] = values[i] * 10 + (uint64_t)(text[at] - '0');
			continue;
		}
		if (++i == STATM_VALUES)
			break;
		values[i] = 0;
	}
	return i == STATM_VALUES;
}

#define STATM_BYTES 128
#define KB_PER_PAGE (FTR_ARCH_PAGE_BYTES / 1024)

static bool statm_read(uint64_t values[STATM_VALUES])
{
	long fd = ftr_sys_open_own("/proc/self/statm");
	char text[STATM_BYTES];
	long bytes;
	unsigned i;

	if (fd < 0)
		return false;
	bytes = ftr_sys6(SYS_read, fd, text, sizeof(text), 0, 0, FTR_OWN_CALL);
	ftr_sys_close_own(fd);
	if (!statm_parse(text, bytes, values))
		return false;
	for (i = 0; i < STATM_VALUES; i++)
		values[i] *= KB_PER_PAGE;
	return true;
}

static bool faults_read(uint64_t values[FAULT_VALUES])
{
	struct rusage usage;

	if (ftr_sys6(SYS_getrusage, RUSAGE_SELF, &usage, 0, 0, 0, FTR_OWN_CALL) < 0)
		return false;
	values[0] = (uint64_t)usage.ru_majflt;
	values[1] = (uint64_t)usage.ru_minflt;
	return true;
}

/* The thread's, where libc keeps it. */
static uint64_t errno_read(void)
{
	return (uint64_t)(int64_t)*(const int *)(ftr_arch_thread_pointer() +
						 ftr_state.errno_offset);
}

static uint64_t counters_read(struct ftr_thread *self, uint64_t kinds, uint64_t *values)
{
	for (unsigned kind = 0; kind < FTR_PMU_KINDS; kind++)
		if ((kinds & pmu_kind(kind)) != 0 &&
		    !ftr_pmu_read_kind(self, kind, values + kind * FTR_PMU_PAIR))
			kinds &= ~pmu_kind(kind);
	return kinds;
}

/*
 * What can be read of @kinds, to @values; returns those.  Counters are read next to the call, so
 * that reading the others is not counted.
 */
static uint64_t kinds_read(struct ftr_thread *self, uint64_t kinds,
			   uint64_t values[FTR_GATE_READ_VALUES], bool is_end)
{
	if (is_end)
		kinds = counters_read(self, kinds, values + PMU_VALUE);
	if ((kinds & FTR_CALL_READ_ERRNO) != 0)
		values[ERRNO_VALUE] = errno_read();
	if (ftr_is_silent() || ftr_is_blocked(FTR_SECCOMP_READ))
		kinds &= ~(uint64_t)(FTR_CALL_READ_STATM | FTR_CALL_READ_FAULTS);
	if ((kinds & FTR_CALL_READ_STATM) != 0 && !statm_read(values))
		kinds &= ~(uint64_t)FTR_CALL_READ_STATM;
	if ((kinds & FTR_CALL_READ_FAULTS) != 0 && !faults_read(values + STATM_VALUES))
		kinds &= ~(uint64_t)FTR_CALL_READ_FAULTS;
	return is_end ? kinds : counters_read(self, kinds, values + PMU_VALUE);
}

static void kinds_put(struct ftr_thread *self, uint64_t kinds,
		      const uint64_t values[FTR_GATE_READ_VALUES], bool is_end)
{
	if ((kinds & FTR_CALL_READ_STATM) != 0)
		event_put(self, is_end ? FTR_RECORD_EVENT_DIFF_STATM : FTR_RECORD_EVENT_READ_STATM,
			  values, STATM_VALUES * sizeof(*values));
	if ((kinds & FTR_CALL_READ_FAULTS) != 0)
		event_put(self, is_end ? FTR_RECORD_EVENT_DIFF_FAULT : FTR_RECORD_EVENT_READ_FAULT,
			  values + STATM_VALUES, FAULT_VALUES * sizeof(*values));
	for (unsigned kind = 0; kind < FTR_PMU_KINDS; kind++)
		if ((kinds & pmu_kind(kind)) != 0)
			event_put(self, FTR_RECORD_EVENT_READ_CYCLE + 2 * kind + is_end,
				  values + PMU_VALUE + kind * FTR_PMU_PAIR,
				  FTR_PMU_PAIR * sizeof(*values));
}

static struct ftr_gate_reads *reads_of(const struct ftr_thread *self,
				       const struct ftr_frame *frame)
{
	return self->gate->reads != NULL ? &self->gate->reads[frame - self->frames] : NULL;
}

/* What is captured of the function of @frame, and its tests. */
static struct ftr_values_programs programs_of(struct ftr_thread *self, uintptr_t func)
{
	return self->gate->payloads != NULL ? ftr_gate_programs(self, func) :
					      (struct ftr_values_programs){ 0 };
}

void ftr_actions_expect(struct ftr_thread *self, const struct ftr_frame *frame,
			const struct ftr_call *call, uint32_t kinds)
{
	struct ftr_gate_reads *reads = reads_of(self, frame);
	struct ftr_values_programs programs;

	if (reads == NULL)
		return;
	reads->kinds = kinds;
	if ((ftr_gate_frame(self, frame)->actions & FTR_GATE_DUMP) == 0)
		return;
	programs = programs_of(self, call->func);
	reads->judged = ftr_values_judge(&programs, call);
	reads->tick = ftr_clock_read();
}

static __attribute__((noinline)) bool asks_dump(struct ftr_thread *self,
						const struct ftr_frame *frame,
						const struct ftr_regs *regs)
{
	const struct ftr_gate_reads *reads = reads_of(self, frame);
	struct ftr_values_programs programs = programs_of(self, frame->func);
	const struct ftr_call call = ftr_gate_call(frame, regs);

	return reads != NULL &&
	       ftr_values_asks_dump(&programs, &call, &reads->judged,
				    ftr_gate_elapsed_ns(reads->tick, ftr_clock_read()));
}

/* So that the recorder knows whose code it is.  The hook looks at the module of the last call. */
static void site_check(struct ftr_thread *self, uintptr_t site)
{
	uintptr_t low = self->module_low, bytes = self->module_bytes;
	uint32_t generation = self->module_generation;

	if (ftr_module_is_known(self, site))
		return;
	ftr_module_check(self, site);
	self->module_low = low;
	self->module_bytes = bytes;
	self->module_generation = generation;
}

static void site_put(struct ftr_thread *self, uintptr_t site)
{
	if (site == 0 || ftr_is_stub(site))
		return;
	site_check(self, site);
	event_put(self, FTR_RECORD_EVENT_CALLSITE, &site, sizeof(site));
}

void ftr_actions_before(struct ftr_thread *self, const struct ftr_frame *frame, uintptr_t site)
{
	uint8_t actions = ftr_gate_frame(self, frame)->actions;

	if ((actions & (FTR_GATE_STACK | FTR_GATE_CALLSITE)) == 0)
		return;
	if (frame->kind != FTR_FRAME_CYGPROF)
		site = ftr_backtrace_site(self, frame);
	if ((actions & FTR_GATE_STACK) != 0)
		ftr_backtrace_put(self, frame, site);
	if ((actions & FTR_GATE_CALLSITE) != 0)
		site_put(self, site);
}

void ftr_actions_begin(struct ftr_thread *self, const struct ftr_frame *frame)
{
	struct ftr_gate_reads *reads = reads_of(self, frame);

	if ((ftr_gate_frame(self, frame)->actions & FTR_GATE_READ) == 0 || reads == NULL)
		return;
	reads->pid = (uint32_t)self->slot->pid;
	reads->kinds = kinds_read(self, reads->kinds, reads->values, false);
	kinds_put(self, reads->kinds, reads->values, false);
}

/*
 * Has the call that ends with @regs (nullable) set it?  It has when it is another one now, or the
 * call says that it failed as most functions of libc do, by -1, and it is the same again.
 */
static bool sets_errno(uint64_t before, uint64_t now, const struct ftr_regs *regs)
{
	return now != 0 && (now != before ||
			    (regs != NULL && (int32_t)ftr_arch_retval(regs, 0) == -1));
}

/* Does a child return from a call that its parent began?  The kernel counts for it anew. */
static bool is_in_child(const struct ftr_thread *self, const struct ftr_gate_reads *reads)
{
	return self->producer->header == NULL || reads->pid != (uint32_t)self->slot->pid;
}

static void reads_end(struct ftr_thread *self, const struct ftr_frame *frame,
		      const struct ftr_regs *regs)
{
	struct ftr_gate_reads *reads = reads_of(self, frame);
	uint64_t values[FTR_GATE_READ_VALUES], kinds;
	unsigned i;

	if (reads == NULL)
		return;
	kinds = reads->kinds;
	if (is_in_child(self, reads))
		kinds &= FTR_CALL_READ_ERRNO | FTR_CALL_READ_STATM;
	kinds = kinds_read(self, kinds, values, true);
	if ((kinds & FTR_CALL_READ_ERRNO) != 0 &&
	    sets_errno(reads->values[ERRNO_VALUE], values[ERRNO_VALUE], regs))
		event_put(self, FTR_RECORD_EVENT_ERRNO, &values[ERRNO_VALUE],
			  sizeof(values[ERRNO_VALUE]));
	for (i = 0; i < FTR_GATE_READ_VALUES; i++)
		values[i] -= reads->values[i];
	kinds_put(self, kinds, values, true);
}

bool ftr_actions_end(struct ftr_thread *self, const struct ftr_frame *frame,
		     const struct ftr_regs *regs)
{
	struct ftr_gate_frame *gated = ftr_gate_frame(self, frame);
	uint8_t actions = gated->actions;
	bool is_dump;

	gated->actions = 0;		/* a handler that jumps out of here does not end it again */
	is_dump = (actions & FTR_GATE_DUMP) != 0 && asks_dump(self, frame, regs);
	if ((actions & FTR_GATE_RECOVER) != 0 &&
	    (uintptr_t)self->gate->recovering ==
		    ((uintptr_t)frame->loc & ~(uintptr_t)FTR_FRAME_BUSY))
		self->gate->recovering = NULL;	/* left by a jump: the calls around it stay bare */
	if ((actions & FTR_GATE_READ) != 0 && gated->status == FTR_GATE_BEGUN)
		reads_end(self, frame, regs);
	return is_dump;
}
