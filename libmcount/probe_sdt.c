/* SPDX-License-Identifier: MIT */
/*
 * Events that modules declare: where one is, a jump leads behind a head, which calls ftr_site_hit
 * with the registers as they are there (utils/proto/sdt.h, doc/adr/0081).
 */
#include "arch/plain.h"
#include "arch/site.h"
#include "libmcount/gate.h"
#include "libmcount/gated.h"
#include "libmcount/hook.h"
#include "libmcount/plain_patch.h"
#include "libmcount/sections.h"
#include "libmcount/semaphores.h"
#include "libmcount/state.h"
#include "libmcount/values.h"
#include "utils/proto/plain.h"
#include "utils/proto/record.h"
#include "utils/proto/sdt.h"

#define DISTANCE_BYTES 4u

extern const struct ftr_probe ftr_probe_sdt FTR_HIDDEN;
void ftr_site_hit(const struct ftr_site_regs *regs, const uint8_t *behind) FTR_HIDDEN;

static uint64_t register_of(const struct ftr_site_regs *regs, unsigned nr)
{
	return nr < FTR_ARCH_SITE_REGISTERS ? regs->v[nr] : 0;
}

/* What may be in use below the stack pointer is there. */
static bool is_in_red_zone(uintptr_t stack, uintptr_t address, unsigned bytes)
{
	return address >= stack - FTR_ARCH_RED_ZONE && address + bytes <= stack;
}

static uint64_t load(uintptr_t address, unsigned bytes)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)((const uint8_t *)address)[i] << 8 * i;
	return value;
}

/* A compiler's operand can be what a program would never load where the event is not asked for. */
static bool memory_read(const struct ftr_site_regs *regs, const struct ftr_sdt_arg *arg,
			uint64_t *value)
{
	uintptr_t address = *value + register_of(regs, arg->base) +
			    (register_of(regs, arg->index) << (arg->scale & 3u));
	uintptr_t stack = regs->v[FTR_ARCH_SITE_STACK];
	unsigned bytes = ftr_sdt_bytes(arg->type);
	uint8_t copied[sizeof(*value)] = { 0 };

	if (is_in_red_zone(stack, address, bytes)) {
		*value = load(address, bytes);
		return true;
	}
	if (ftr_values_copy(&ftr_self, copied, (const uintptr_t *)stack, address, bytes) != bytes)
		return false;
	*value = load((uintptr_t)copied, bytes);
	return true;
}

static bool arg_read(const struct ftr_site_regs *regs, const struct ftr_sdt_arg *arg,
		     uint64_t *value)
{
	*value = ftr_sdt_value(arg);
	switch (arg->where) {
	case FTR_SDT_CONSTANT:
		return true;
	case FTR_SDT_REGISTER:
		*value = register_of(regs, arg->base) >> (arg->from_bit & 63u);
		return true;
	case FTR_SDT_VECTOR:
		*value = ftr_arch_site_vector(arg->base);
		return true;
	case FTR_SDT_OWN:
		*value = load(*value, ftr_sdt_bytes(arg->type));
		return true;
	case FTR_SDT_MEMORY:
		return memory_read(regs, arg, value);
	default:
		return false;
	}
}

/* As many bits as it has; with its sign, where it has one. */
static uint64_t extended(uint64_t value, uint8_t type)
{
	unsigned unused = 64 - 8 * ftr_sdt_bytes(type);

	if (unused >= 64)
		return 0;
	value <<= unused;
	return type <= FTR_SDT_S64 ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

/* The payload while it grows. */
struct payload {
	uint32_t words[2 * (1 + FTR_SDT_ARGS_MAX)];
	uint32_t nr;
};

static void put(struct payload *payload, uint64_t value, unsigned bytes)
{
	payload->words[payload->nr++] = (uint32_t)value;
	if (bytes > sizeof(payload->words[0]))
		payload->words[payload->nr++] = (uint32_t)(value >> 32);
}

static void site_record(struct ftr_thread *self, const struct ftr_site_regs *regs,
			const struct ftr_sdt_site *site)
{
	const struct ftr_sdt_arg *args = (const struct ftr_sdt_arg *)(site + 1);
	uint32_t nr = site->arg_nr <= FTR_SDT_ARGS_MAX ? site->arg_nr : FTR_SDT_ARGS_MAX, i;
	struct payload payload = { .nr = 2 };
	uint64_t types = nr, value;

	for (i = 0; i < nr; i++) {
		bool is_read = arg_read(regs, &args[i], &value);
		uint8_t type = is_read ? args[i].type & FTR_SDT_TYPE_MASK : 0;

		put(&payload, extended(value, type), ftr_sdt_bytes(type));
		types |= (uint64_t)type << FTR_SDT_TYPE_BITS * (1 + i);
	}
	payload.words[0] = (uint32_t)types;
	payload.words[1] = (uint32_t)(types >> 32);
	payload.nr += payload.nr % 2;
	if (self->gate != NULL && self->gate->has_waited)
		ftr_gated_flush(self);
	ftr_record_put_wanted(self, ftr_record_word(FTR_RECORD_EVENT, 0, site->id), payload.words,
			      nr == 0 ? 0 : payload.nr * (uint32_t)sizeof(payload.words[0]));
}

void ftr_site_hit(const struct ftr_site_regs *regs, const uint8_t *behind)
{
	const uint8_t *before = behind - FTR_ARCH_PLAIN_HEAD - DISTANCE_BYTES;
	struct ftr_thread *self = &ftr_self;

	if (atomic_load_explicit(&ftr_state.tracing, memory_order_relaxed) != FTR_TRACING_ON ||
	    !ftr_record_is_wanted(self))
		return;
	site_record(self, regs, (const struct ftr_sdt_site *)(behind -
			  load((uintptr_t)before, DISTANCE_BYTES)));
}

/* Programs may look at them before they go where the event is. */
static void semaphores_raise(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	const struct ftr_plain_table *table;
	const uint32_t *offsets;
	uint32_t bytes = 0, nr;

	table = ftr_sections_find(sections, FTR_SECTION_SDT, &bytes);
	offsets = ftr_sdt_semaphores(table, bytes, &nr);
	if (nr != 0)
		ftr_semaphores_raise(module->base + table->base, offsets, nr);
}

static void patch_module(const struct ftr_loaded *module, const struct ftr_sections *sections)
{
	if (ftr_plain_patch(module, sections, FTR_SECTION_SDT, "event"))
		semaphores_raise(module, sections);
}

const struct ftr_probe ftr_probe_sdt = {
	.name = "sdt",
	.module = patch_module,
};
