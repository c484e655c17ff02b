/* SPDX-License-Identifier: MIT */
/* What a function takes and gives, and where: registers and stack at its entry and its return. */
#ifndef FTR_OBJECT_SIGNATURE_H
#define FTR_OBJECT_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/callconv.h"

/* How a value is to be read; the rest of its type does not matter. */
enum ftr_type_kind {
	FTR_TYPE_NONE,		/* void */
	FTR_TYPE_SIGNED,
	FTR_TYPE_UNSIGNED,
	FTR_TYPE_CHAR,
	FTR_TYPE_FLOAT,		/* of 4, 8 or 16 bytes: binary32, binary64, x87's 80 bits */
	FTR_TYPE_POINTER,
	FTR_TYPE_STRING,	/* a pointer to char */
	FTR_TYPE_STD_STRING,	/* a pointer to std::string */
	FTR_TYPE_TEXT,		/* an object, or a pointer to one, that has text */
	FTR_TYPE_ENUM,
	FTR_TYPE_OPAQUE,	/* a struct, a union, a wide number ... by value */
	FTR_TYPE_ARRAY,		/* of a member: nr of inner */
	FTR_TYPE_BOOL,		/* of a member, or of what a pointer leads to */
	FTR_TYPE_SHAPE,		/* in a payload: bytes that utils/record/value_shape.h describes */
};

/* What is too wide for one number in a payload, and shown as one. */
enum ftr_wide_kind {
	FTR_WIDE_NONE,
	FTR_WIDE_SIGNED,	/* 128 bits */
	FTR_WIDE_UNSIGNED,
	FTR_WIDE_COMPLEX,	/* two floats: the real part, then the imaginary one */
};

struct ftr_enumerator {
	const char *name;
	int64_t value;
};

struct ftr_enum_type {
	uint64_t id;		/* of the type in its file: offset of its declaration */
	const char *name;	/* no other character than of an identifier; "" = none */
	uint32_t nr;
	struct ftr_enumerator values[];
};

/* Where an object has the address of its characters, and their number. */
struct ftr_text_parts {
	uint32_t pointer, length;
	bool is_followed;	/* the value is a pointer to the object; of STD_STRING, too */
	bool is_libcxx;		/* of STD_STRING: the other library's */
};

struct ftr_type {
	enum ftr_type_kind kind;
	uint32_t bytes;
	const char *name;	/* of OPAQUE (nullable), as that of an enumeration */
	enum ftr_wide_kind wide;	/* of OPAQUE */
	const struct ftr_enum_type *values;	/* of ENUM (nullable) */
	struct ftr_text_parts text;		/* of TEXT, STD_STRING */
	const struct ftr_type *inner;		/* of ARRAY; what a POINTER leads to (nullable) */
	const struct ftr_members *members;	/* of OPAQUE (nullable: not known) */
	const struct ftr_container *container;	/* of OPAQUE (nullable): it is shown so */
	uint32_t nr;				/* of ARRAY */
};

/* Of a struct, a union or a class; those of its bases among them. */
struct ftr_member {
	const char *name;	/* no other character than of an identifier; "" = none */
	uint32_t offset;
	uint8_t bit, bit_nr;	/* of a bit field, from the lowest bit at offset on; 0 = none */
	struct ftr_type type;
};

struct ftr_members {
	uint32_t nr;
	struct ftr_member v[];
};

/* One of the things that a variant may be. */
struct ftr_alternative {
	const char *name;	/* as that of a member */
	bool is_default;	/* whatever values the others do not have */
	bool has_type;		/* there is more to it than its name */
	uint64_t value;		/* of the discriminant */
	uint32_t offset;
	struct ftr_type type;
};

struct ftr_alternatives {
	uint32_t nr;
	struct ftr_alternative v[];
};

enum ftr_container_kind {
	FTR_CONTAINER_PART,	/* at @at, inner */
	FTR_CONTAINER_SIZE,	/* at @length, how many elements there are */
	FTR_CONTAINER_LENGTH,	/* the same, and at @at a pointer to the first */
	FTR_CONTAINER_ENDS,	/* pointers: at @at to the first, at @length behind the last */
	FTR_CONTAINER_CHAIN,	/* as LENGTH; elements are in nodes whose first word is the next */
	FTR_CONTAINER_CHAIN_SECOND,	/* ... whose second word is the next */
	FTR_CONTAINER_TREE,	/* ... in nodes of a tree, in order: color, parent, left, right */
	FTR_CONTAINER_TREE_LEFT,	/* ... left, right, parent */
	FTR_CONTAINER_PIECES,	/* at @at two places in pieces (utils/proto/values.h) */
	FTR_CONTAINER_BITS,	/* at @at a pointer to words, of whose bits each is an element */
	FTR_CONTAINER_VARIANT,	/* at @at, of element_bytes, what says which alternative it is */
};

/* How many elements there are, where no member says so: members, of whom some count against it. */
struct ftr_number_term {
	uint32_t at, bytes;	/* of an unsigned number, or a pointer */
	uint32_t factor;
	bool is_minus;
};

struct ftr_number {
	uint32_t divisor;	/* of their sum */
	uint32_t nr;
	struct ftr_number_term v[6];
};

/* What its users see of an object. */
struct ftr_container {
	enum ftr_container_kind kind;
	uint32_t at, length;
	const struct ftr_number *number;	/* (nullable) instead of what is at length */
	bool is_open;		/* of CHAIN: nothing says how many there are */
	uint32_t element_bytes;
	uint32_t element_at;	/* of CHAIN and TREE: where in a node */
	struct ftr_type inner;	/* of elements with no bytes: they are not shown */
	const struct ftr_alternatives *alternatives;
};

struct ftr_parameter {
	struct ftr_type type;
	bool is_pointed;	/* the place has the address of the value */
	uint8_t place_nr;
	struct ftr_place places[FTR_PLACES_MAX];
};

struct ftr_signature {
	struct ftr_parameter retval;	/* its kind is FTR_TYPE_NONE when there is none */
	uint32_t nr;
	struct ftr_parameter params[];
};

#endif /* FTR_OBJECT_SIGNATURE_H */
