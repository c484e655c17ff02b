/* SPDX-License-Identifier: MIT */
/* See watch.h.  Part of the hook: without libc. */
#include "libmcount/watch.h"

#include "arch/rt.h"
#include "libmcount/gated.h"
#include "libmcount/sections.h"

static uint64_t value_load(uintptr_t address, uint32_t bytes)
{
	switch (bytes) {
	case sizeof(uint8_t):
		return __atomic_load_n((const uint8_t *)address, __ATOMIC_RELAXED);
	case sizeof(uint16_t):
		return *(const volatile uint16_t *)address;	/* it may not be aligned */
	case sizeof(uint32_t):
		return *(const volatile uint32_t *)address;
	default:
		return *(const volatile uint64_t *)address;
	}
}

void ftr_watch_update(const struct ftr_sections *sections)
{
	uint32_t bytes = 0;
	const struct ftr_watch *watch = ftr_sections_find(sections, FTR_SECTION_WATCH, &bytes);

	if (watch == NULL || bytes < sizeof(*watch) ||
	    watch->variable_nr > FTR_WATCH_VARIABLES_MAX ||
	    watch->variable_nr >
		    (bytes - sizeof(*watch)) / sizeof(struct ftr_watch_variable))
		return;
	atomic_store_explicit(&ftr_state.watching.what, watch, memory_order_release);
}

static void event_put(struct ftr_thread *self, const struct ftr_frame *frame, uint32_t id,
		      const void *payload, uint32_t bytes)
{
	ftr_gated_put_waiting(self, frame);
	ftr_record_put_wanted(self, ftr_record_word(FTR_RECORD_EVENT, 0, id), payload, bytes);
}

static void cpu_look(struct ftr_thread *self, const struct ftr_frame *frame)
{
	int32_t cpu = (int32_t)ftr_arch_cpu();

	if (likely(self->gate->cpu == cpu + 1))
		return;
	self->gate->cpu = cpu + 1;
	event_put(self, frame, FTR_RECORD_EVENT_WATCH_CPU, &cpu, sizeof(cpu));
}

/* Is @value new to the process?  Of threads that see it together one tells. */
static bool is_news(unsigned i, uint64_t value)
{
	struct ftr_watching *watching = &ftr_state.watching;
	uint64_t last = atomic_load_explicit(&watching->last[i], memory_order_relaxed);

	if (likely(atomic_load_explicit(&watching->is_known[i], memory_order_relaxed)))
		return unlikely(last != value) &&
		       atomic_compare_exchange_strong(&watching->last[i], &last, value);
	if (atomic_exchange(&watching->is_known[i], true))
		return false;
	atomic_store(&watching->last[i], value);
	return true;
}

static void variable_look(struct ftr_thread *self, const struct ftr_frame *frame, unsigned i,
			  const struct ftr_watch_variable *variable)
{
	uintptr_t address = ftr_state.known[0].low + variable->offset;
	uint64_t payload[2] = { address, value_load(address, variable->bytes) };

	if (unlikely(is_news(i, payload[1])))
		event_put(self, frame, FTR_RECORD_EVENT_WATCH_VAR, payload,
			  (uint32_t)sizeof(payload[0]) + variable->bytes);
}

void ftr_watch_look(struct ftr_thread *self, const struct ftr_frame *frame)
{
	const struct ftr_watch *watch = atomic_load_explicit(&ftr_state.watching.what,
							     memory_order_acquire);
	const struct ftr_watch_variable *variables = (const void *)(watch + 1);
	uint64_t status = ftr_gate_frame(self, frame)->status;
	unsigned i;

	if (status != FTR_GATE_WAITS && status != FTR_GATE_BEGUN)
		return;
	if ((watch->flags & FTR_WATCH_CPU) != 0)
		cpu_look(self, frame);
	for (i = 0; i < watch->variable_nr; i++)
		variable_look(self, frame, i, &variables[i]);
}
