/* SPDX-License-Identifier: MIT */
/*
 * Events that a module declares (SDT, sys/sdt.h): a no-operation in the midst of a function, with a
 * note that says where the event's arguments are when it is reached.
 *
 * The body of FTR_SECTION_SDT is that of plain.h: the no-operation and what follows it run
 * elsewhere, behind a head that calls the hook.  Before each head stands what the hook is to do:
 *
 *	struct ftr_sdt_site, struct ftr_sdt_arg arg_nr times, filling
 *	uint32_t		distance from the site's first byte to the end of the head
 *	the head		arch/ISA/plain.h
 */
#ifndef FTR_PROTO_SDT_H
#define FTR_PROTO_SDT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/proto/plain.h"

enum ftr_sdt_where {
	FTR_SDT_NOWHERE = 0,	/* not known: an operand that we do not understand */
	FTR_SDT_CONSTANT = 1,
	FTR_SDT_REGISTER = 2,	/* integer register @base, from its bit @from_bit on */
	FTR_SDT_VECTOR = 3,	/* vector register @base, its lower half */
	FTR_SDT_MEMORY = 4,	/* at @base + @index << @scale + the value */
	FTR_SDT_OWN = 5,	/* in the module's memory, at the value */
};
#define FTR_SDT_NO_REGISTER 0xffu

/*
 * Behind the code, up to the end of the body: where the counters of who wants to know are, of two
 * bytes each, from the base.
 */
static inline const uint32_t *ftr_sdt_semaphores(const struct ftr_plain_table *table,
						 uint64_t bytes, uint32_t *nr)
{
	uint64_t end;

	*nr = 0;
	if (table == NULL || bytes < sizeof(*table))
		return NULL;
	end = sizeof(*table) + (uint64_t)table->write_nr * sizeof(struct ftr_plain_write) +
	      (uint64_t)table->fix_nr * sizeof(uint32_t) + table->code_bytes;
	end = (end + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
	if (end < bytes)
		*nr = (uint32_t)((bytes - end) / sizeof(uint32_t));
	return (const uint32_t *)((const uint8_t *)table + end);
}

/* What an argument is; 0 = not known. */
enum ftr_sdt_type {
	FTR_SDT_S8 = 1, FTR_SDT_S16, FTR_SDT_S32, FTR_SDT_S64,
	FTR_SDT_U8, FTR_SDT_U16, FTR_SDT_U32, FTR_SDT_U64,
	FTR_SDT_F32, FTR_SDT_F64,
	FTR_SDT_TYPES
};

struct ftr_sdt_arg {
	uint8_t	 where;		/* enum ftr_sdt_where */
	uint8_t	 type;		/* enum ftr_sdt_type */
	uint8_t	 base, index;	/* registers by their number in instructions, or NO_REGISTER */
	uint8_t	 scale;		/* the index is shifted by so many bits */
	uint8_t	 from_bit;
	uint16_t reserved;
	uint32_t low, high;	/* halves of a value, which may be an address in the module */
};
static_assert(sizeof(struct ftr_sdt_arg) == 16, "wire layout");

static inline uint64_t ftr_sdt_value(const struct ftr_sdt_arg *arg)
{
	return (uint64_t)arg->high << 32 | arg->low;
}

#define FTR_SDT_ARGS_MAX 12

struct ftr_sdt_site {
	uint32_t id;		/* of the event: FTR_RECORD_EVENT_SDT and on */
	uint32_t arg_nr;
};
static_assert(sizeof(struct ftr_sdt_site) == 8, "wire layout");

/*
 * The payload of such an event, where it has arguments: their number and types, 4 bits each from
 * the lowest on, in a uint64_t; then the values, of 4 bytes where the type has no more, else of 8;
 * zeros up to a multiple of 8.
 */
#define FTR_SDT_TYPE_BITS 4
#define FTR_SDT_TYPE_MASK 0xfu

static inline unsigned ftr_sdt_bytes(uint8_t type)
{
	static const uint8_t bytes[FTR_SDT_TYPES] = { 0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8 };

	return type < FTR_SDT_TYPES ? bytes[type] : 0;
}

#endif /* FTR_PROTO_SDT_H */
