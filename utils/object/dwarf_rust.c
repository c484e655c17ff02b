/* SPDX-License-Identifier: MIT */
/*
 * See dwarf_rust.h.  The compiler sees a type as nothing, a scalar, a pair of scalars, or memory
 * (rustc's BackendRepr, as rustc_abi's layout.rs decides it); memory of at most a word is passed
 * as an integer of its size, larger one by its address.
 */
#include "utils/object/dwarf_rust.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_search.h"

#define WORD 8u
#define VECTOR_BYTES 16u
#define DEPTH_MAX 24			/* of types in types */
#define VISITS_MAX 4096
#define FIELDS_MAX 3u			/* as many as matter: more are memory */
#define RETURNS_KNOWN_SINCE 95u		/* 1.x: before, two words came in registers at times */

enum seen_as { SEEN_UNKNOWN, SEEN_NOTHING, SEEN_SCALAR, SEEN_PAIR, SEEN_MEMORY };

struct scalar {
	enum ftr_leaf_kind kind;	/* INTEGER, FLOAT */
	uint32_t bytes;			/* and its alignment */
};

struct seen {
	enum seen_as as;
	struct scalar v[2];
	uint32_t second_at;		/* of a PAIR */
	uint32_t bytes, align;
};

struct field {
	uint32_t offset;
	struct seen seen;
};

/* What is not nothing. */
struct fields {
	uint32_t nr;			/* up to FIELDS_MAX, where there may be more */
	bool is_unknown;		/* one of them */
	struct field v[FIELDS_MAX];
};

struct look {
	unsigned depth, visits;
};

static struct seen seen_type(struct look *look, Dwarf_Die *type);

static uint32_t align_up(uint32_t at, uint32_t align)
{
	return (at + align - 1) / align * align;
}

static struct seen seen_scalar(enum ftr_leaf_kind kind, uint32_t bytes)
{
	return (struct seen){ .as = SEEN_SCALAR, .v = { { kind, bytes } }, .bytes = bytes,
			      .align = bytes };
}

static struct seen seen_base(Dwarf_Die *type)
{
	int64_t bytes = dwarf_bytesize(type);
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attr), &encoding);
	if (bytes == 0)			/* (), ! */
		return (struct seen){ .as = SEEN_NOTHING, .align = 1 };
	if (encoding == DW_ATE_float)
		return bytes == 4 || bytes == 8 ? seen_scalar(FTR_LEAF_FLOAT, (uint32_t)bytes) :
						  (struct seen){ 0 };
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 2 * WORD)
		return (struct seen){ 0 };
	return seen_scalar(FTR_LEAF_INTEGER, (uint32_t)bytes);
}

static uint32_t alignment_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word align = 0;

	dwarf_formudata(dwarf_attr_integrate(type, DW_AT_alignment, &attr), &align);
	return align > 0 && align <= UINT16_MAX ? (uint32_t)align : 0;
}

static struct seen seen_array(struct look *look, Dwarf_Die *type)
{
	Dwarf_Word bytes = 0;
	struct seen element;
	Dwarf_Die inner;

	if (dwarf_aggregate_size(type, &bytes) != 0 || bytes > INT32_MAX ||
	    !ftr_dwarf_type(type, &inner, NULL))
		return (struct seen){ 0 };
	element = seen_type(look, &inner);
	if (element.as == SEEN_UNKNOWN || element.align == 0)
		return (struct seen){ 0 };
	return (struct seen){ .as = bytes == 0 ? SEEN_NOTHING : SEEN_MEMORY,
			      .bytes = (uint32_t)bytes, .align = element.align };
}

/* The fields of @type, or of one of its variants, or where none says which it is of all. */
static bool fields_add(struct look *look, Dwarf_Die *type, struct fields *fields)
{
	Dwarf_Die die, inner;
	struct field field;
	int ret = dwarf_child(type, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_member || !ftr_dwarf_is_part(&die))
			continue;
		if (!ftr_dwarf_offset_of(&die, &field.offset) ||
		    !ftr_dwarf_type(&die, &inner, NULL))
			return false;
		field.seen = seen_type(look, &inner);
		if (field.seen.as == SEEN_NOTHING)
			continue;
		fields->is_unknown |= field.seen.as == SEEN_UNKNOWN;
		if (fields->nr < FIELDS_MAX)
			fields->v[fields->nr++] = field;
	}
	return true;
}

static bool scalars_are_pair(struct scalar first, struct scalar second, uint32_t second_at,
			     uint32_t bytes, uint32_t align)
{
	uint32_t most = first.bytes > second.bytes ? first.bytes : second.bytes;

	return second_at == align_up(first.bytes, second.bytes) && align == most &&
	       bytes == align_up(second_at + second.bytes, most);
}

static struct seen seen_pair(const struct field *a, const struct field *b, uint32_t bytes,
			     uint32_t align)
{
	const struct field *first = a->offset < b->offset ? a : b, *second = first == a ? b : a;
	struct seen pair = {
		.as = SEEN_PAIR, .second_at = second->offset, .bytes = bytes, .align = align,
		.v = { first->seen.v[0], second->seen.v[0] },
	};

	if (a->seen.as != SEEN_SCALAR || b->seen.as != SEEN_SCALAR || first->offset != 0 ||
	    !scalars_are_pair(pair.v[0], pair.v[1], second->offset, bytes, align))
		pair.as = SEEN_MEMORY;
	return pair;
}

/* One array as wide as a vector register may be one. */
static bool is_vector(const struct fields *fields, uint32_t bytes, uint32_t align)
{
	return fields->nr == 1 && fields->v[0].seen.as == SEEN_MEMORY && bytes == align &&
	       bytes >= VECTOR_BYTES;
}

static struct seen seen_fields(const struct fields *fields, uint32_t bytes, uint32_t align)
{
	const struct field *one = &fields->v[0];

	if (fields->nr == 0)
		return (struct seen){ .as = bytes == 0 ? SEEN_NOTHING : SEEN_MEMORY,
				      .bytes = bytes, .align = align };
	if (fields->nr < FIELDS_MAX &&
	    (fields->is_unknown || is_vector(fields, bytes, align)))
		return (struct seen){ 0 };
	if (fields->nr == 1 && one->offset == 0 && one->seen.bytes == bytes &&
	    one->seen.align == align)
		return one->seen;
	if (fields->nr == 2)
		return seen_pair(one, &fields->v[1], bytes, align);
	return (struct seen){ .as = SEEN_MEMORY, .bytes = bytes, .align = align };
}

static bool is_integer(const struct seen *seen)
{
	return seen->as == SEEN_SCALAR && seen->v[0].kind == FTR_LEAF_INTEGER;
}

/* What has one field, or the same one under several names, is that if it is not repr(C). */
static struct seen seen_union(Dwarf_Die *type, const struct fields *fields, uint32_t bytes,
			      uint32_t align)
{
	struct seen memory = { .as = SEEN_MEMORY, .bytes = bytes, .align = align };
	const char *name = dwarf_diename(type);
	bool are_integers = true, is_memory = bytes == 0;

	for (uint32_t i = 0; i < fields->nr; i++) {
		const struct seen *seen = &fields->v[i].seen;

		are_integers &= is_integer(seen);
		is_memory |= seen->as == SEEN_MEMORY ||
			     (seen->as == SEEN_SCALAR && seen->bytes != bytes) ||
			     seen->as != fields->v[0].seen.as ||
			     seen->v[0].kind != fields->v[0].seen.v[0].kind;
	}
	if (fields->nr == 0 || bytes > 4 * WORD)	/* more than two scalars have */
		return memory;
	if (fields->nr == FIELDS_MAX || fields->is_unknown)
		return (struct seen){ 0 };
	if (is_memory || (are_integers && bytes <= WORD))
		return memory;
	if (fields->nr == 1 && name != NULL && strncmp(name, "MaybeUninit<", 12) == 0)
		return seen_fields(fields, bytes, align);
	return (struct seen){ 0 };
}

/* Scalars of two variants that may be the same one to the compiler. */
static bool is_same(const struct field *a, const struct field *b)
{
	return a->offset == b->offset && a->seen.v[0].kind == b->seen.v[0].kind &&
	       a->seen.bytes == b->seen.bytes;
}

/* An enum while its variants are read. */
struct variants {
	uint32_t bytes, align;
	struct fields all;		/* of all of them */
	struct fields main;		/* of that which no number stands for: it has the niche */
	struct field common;		/* the one scalar that variants have */
	bool has_default, has_common, is_mixed;
	bool is_more_than_main;		/* another has fields, too */
};

static bool variant_add(struct look *look, Dwarf_Die *variant, struct variants *read)
{
	struct fields fields = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Die member, type;
	int ret = dwarf_child(variant, &member);
	bool is_default = dwarf_attr(variant, DW_AT_discr_value, &attr) == NULL;

	while (ret == 0 && dwarf_tag(&member) != DW_TAG_member)
		ret = dwarf_siblingof(&member, &member);
	if (ret != 0 || !ftr_dwarf_type(&member, &type, NULL) ||
	    !fields_add(look, &type, &fields) || !fields_add(look, &type, &read->all))
		return false;
	if (fields.is_unknown)
		return false;
	read->has_default |= is_default;
	if (is_default && fields.nr > 0) {
		read->is_more_than_main |= read->main.nr > 0;
		read->main = fields;
		return true;
	}
	if (fields.nr == 0)
		return true;
	read->is_more_than_main = true;
	read->is_mixed |= fields.nr > 1 || fields.v[0].seen.as != SEEN_SCALAR ||
			  (read->has_common && !is_same(&fields.v[0], &read->common));
	read->common = fields.v[0];
	read->has_common = true;
	return true;
}

/* The number that says which variant it is has a place of its own: @tag. */
static struct seen seen_tagged(const struct variants *read, const struct field *tag)
{
	struct seen memory = { .as = SEEN_MEMORY, .bytes = read->bytes, .align = read->align };

	if (tag->offset != 0 || read->is_mixed)
		return memory;
	if (!read->has_common)
		return tag->seen.bytes == read->bytes ? tag->seen : memory;
	return seen_pair(tag, &read->common, read->bytes, read->align);
}

static struct seen seen_enum(struct look *look, Dwarf_Die *part, uint32_t bytes, uint32_t align)
{
	struct variants read = { .bytes = bytes, .align = align };
	struct field tag;
	Dwarf_Attribute attr;
	Dwarf_Die die, type;
	int ret = dwarf_child(part, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) == DW_TAG_variant && !variant_add(look, &die, &read))
			return (struct seen){ 0 };
	}
	if (dwarf_attr(part, DW_AT_discr, &attr) == NULL) /* others than one cannot be made */
		return seen_fields(&read.all, bytes, align);
	if (dwarf_formref_die(&attr, &die) == NULL || !ftr_dwarf_offset_of(&die, &tag.offset) ||
	    !ftr_dwarf_type(&die, &type, NULL))
		return (struct seen){ 0 };
	tag.seen = seen_type(look, &type);
	if (tag.seen.as != SEEN_SCALAR)
		return (struct seen){ 0 };
	if (!read.has_default)
		return seen_tagged(&read, &tag);
	if (read.main.nr == 0)			/* it cannot be made, or has the niche */
		return (struct seen){ 0 };
	if (read.is_more_than_main)
		return (struct seen){ .as = SEEN_MEMORY, .bytes = bytes, .align = align };
	return seen_fields(&read.main, bytes, align);
}

static struct seen seen_object(struct look *look, Dwarf_Die *type)
{
	uint32_t align = alignment_of(type);
	const char *name = dwarf_diename(type);
	int64_t bytes = dwarf_bytesize(type);
	struct fields fields = { 0 };
	Dwarf_Die part;

	if (bytes < 0 || bytes > INT32_MAX || align == 0)
		return (struct seen){ 0 };
	if (bytes == 0)
		return (struct seen){ .as = SEEN_NOTHING, .align = align };
	if (ftr_dwarf_variant_part(type, &part)) {
		if (name != NULL && name[0] == '{')	/* a coroutine, whose variants are states */
			return (struct seen){ .as = SEEN_MEMORY, .bytes = (uint32_t)bytes,
					      .align = align };
		return seen_enum(look, &part, (uint32_t)bytes, align);
	}
	if (!fields_add(look, type, &fields))
		return (struct seen){ 0 };
	return dwarf_tag(type) == DW_TAG_union_type ?
		       seen_union(type, &fields, (uint32_t)bytes, align) :
		       seen_fields(&fields, (uint32_t)bytes, align);
}

static struct seen seen_known(struct look *look, Dwarf_Die *type)
{
	int64_t bytes = dwarf_bytesize(type);

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return seen_base(type);
	case DW_TAG_enumeration_type:
		if (bytes == 0)
			return (struct seen){ .as = SEEN_NOTHING, .align = 1 };
		return bytes > 0 && bytes <= 2 * WORD ?
			       seen_scalar(FTR_LEAF_INTEGER, (uint32_t)bytes) : (struct seen){ 0 };
	case DW_TAG_pointer_type:
		return seen_scalar(FTR_LEAF_INTEGER, WORD);
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return seen_object(look, type);
	case DW_TAG_array_type:
		return seen_array(look, type);
	default:
		return (struct seen){ 0 };
	}
}

static struct seen seen_type(struct look *look, Dwarf_Die *type)
{
	struct seen seen = { 0 };

	if (look->depth == DEPTH_MAX || look->visits++ >= VISITS_MAX)
		return seen;
	look->depth++;
	seen = seen_known(look, type);
	look->depth--;
	return seen;
}

/* "clang LLVM (rustc version 1.95.0 (59807616e 2026-04-14))": 95; 0 = not known. */
static unsigned long minor_version(Dwarf_Die *type)
{
	static const char before[] = "rustc version 1.";
	const char *producer;
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (dwarf_diecu(type, &unit, NULL, NULL) == NULL)
		return 0;
	producer = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attr));
	producer = producer == NULL ? NULL : strstr(producer, before);
	return producer == NULL ? 0 : strtoul(producer + sizeof(before) - 1, NULL, 10);
}

static void leaf_put(struct ftr_leaves *leaves, struct scalar scalar, uint32_t offset)
{
	leaves->v[leaves->nr++] = (struct ftr_leaf){ scalar.kind, offset, scalar.bytes };
}

bool ftr_dwarf_rust_leaves(Dwarf_Die *type, bool is_retval, struct ftr_leaves *leaves)
{
	struct look look = { 0 };
	struct seen seen = seen_type(&look, type);

	leaves->bytes = seen.bytes;
	leaves->align = seen.align;
	leaves->is_apart = true;
	switch (seen.as) {
	case SEEN_NOTHING:
		return true;
	case SEEN_SCALAR:
		leaf_put(leaves, seen.v[0], 0);
		return true;
	case SEEN_PAIR:
		leaf_put(leaves, seen.v[0], 0);
		leaf_put(leaves, seen.v[1], seen.second_at);
		leaves->is_by_reference = is_retval && seen.bytes > 2 * WORD;
		return true;
	case SEEN_MEMORY:
		leaves->is_by_reference = seen.bytes > WORD;
		if (!leaves->is_by_reference)
			leaf_put(leaves, (struct scalar){ FTR_LEAF_INTEGER, seen.bytes }, 0);
		return !is_retval || seen.bytes <= WORD || seen.bytes > 2 * WORD ||
		       minor_version(type) >= RETURNS_KNOWN_SINCE;
	default:
		return false;
	}
}
