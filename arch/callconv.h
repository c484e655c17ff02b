/* SPDX-License-Identifier: MIT */
/* Where a calling convention puts arguments and return values. */
#ifndef FTR_ARCH_CALLCONV_H
#define FTR_ARCH_CALLCONV_H

#include <stdbool.h>
#include <stdint.h>

/* What a value is made of, for the convention. */
enum ftr_leaf_kind {
	FTR_LEAF_INTEGER,
	FTR_LEAF_FLOAT,		/* of at most 8 bytes */
	FTR_LEAF_X87,		/* long double */
	FTR_LEAF_VECTOR,	/* of more than 8 bytes, in one vector register */
};

struct ftr_leaf {
	enum ftr_leaf_kind kind;
	uint32_t offset, bytes;
};

#define FTR_LEAVES_MAX 64

struct ftr_leaves {
	uint32_t bytes, align;	/* of the whole */
	bool is_by_reference;	/* no trivial C++ object: its address is passed */
	bool is_memory;		/* too large for registers, or misaligned */
	bool is_aggregate;	/* a struct, a class or a union */
	bool is_x87_complex;	/* two long doubles that are one number */
	bool is_apart;		/* each leaf, a scalar, is passed as if it were a value */
	uint32_t word_bytes;	/* of a pointer */
	uint32_t visited;	/* types, while it is filled */
	uint32_t nr;
	struct ftr_leaf v[FTR_LEAVES_MAX];
};

enum ftr_place_kind {
	FTR_PLACE_NOWHERE,	/* it is passed, but in no place that is known */
	FTR_PLACE_INTEGER,	/* argument register nr, from 0 */
	FTR_PLACE_VECTOR,	/* lower half of vector register nr, also of a return value */
	FTR_PLACE_STACK,	/* nr bytes above the return address */
	FTR_PLACE_RETURN,	/* integer register nr of return values */
	FTR_PLACE_X87,		/* top of the floating-point stack; nr 1: the one below */
	FTR_PLACE_AT,		/* nr bytes above where another pointer leads */
	FTR_PLACE_RESULT,	/* the caller's room for a return value, told when it called */
};

/* A piece of a value. */
struct ftr_place {
	enum ftr_place_kind kind;
	uint16_t nr;
	uint32_t bytes;
};

#define FTR_PLACES_MAX 4

struct ftr_places {
	bool is_pointed;	/* the place has the address of the value */
	uint8_t nr;
	struct ftr_place v[FTR_PLACES_MAX];
};

/* Registers and stack that are taken by the arguments so far; all zero at first. */
struct ftr_callconv_state {
	unsigned integers, vectors;
	uint32_t stack_bytes;
};

/* A register of arguments, as specs of values name it. */
struct ftr_register_name {
	const char *name;
	enum ftr_place_kind kind;
	uint16_t nr;
};

/* A convention: C's on one architecture. */
struct ftr_callconv {
	unsigned word_bytes;		/* of a general register, a pointer, and a long */
	unsigned integer_nr, vector_nr;	/* registers of arguments */
	const struct ftr_register_name *registers;	/* those, up to the one without a name */
	/* Of more than two words: the address is passed, and no register has it at the return. */
	bool passes_addresses;
	bool has_x87;			/* its long double is x87's */
	/* Functions may take arguments in registers that the convention has none in. */
	bool has_variants;
	/*
	 * The places of the next argument, and of the return value, which has to come first: it may
	 * take a register of the arguments.
	 */
	void (*argument)(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
			 struct ftr_places *places);
	void (*retval)(struct ftr_callconv_state *state, const struct ftr_leaves *leaves,
		       struct ftr_places *places);
	/* Is @place, of an argument, what DWARF calls register @nr? */
	bool (*is_register)(const struct ftr_place *place, unsigned nr);
};

#endif /* FTR_ARCH_CALLCONV_H */
