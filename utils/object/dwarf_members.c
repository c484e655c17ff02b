/* SPDX-License-Identifier: MIT */
/* See dwarf_members.h.  Nothing is believed of a file: a type that never ends is cut. */
#include "utils/object/dwarf_members.h"

#include <dwarf.h>

#include "utils/base/vec.h"
#include "utils/object/dwarf_container.h"
#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_search.h"

#define NESTING_MAX 8			/* of structs in structs */
#define VISITS_MAX 200			/* of types in one value */
#define MEMBERS_MAX 64
#define BITS_MAX 64
#define BYTES_MAX UINT16_MAX

static Dwarf_Word number(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_attr_integrate(die, name, &attr) == NULL || dwarf_formudata(&attr, &value) != 0)
		return otherwise;
	return value;
}

bool ftr_dwarf_is_enough(struct ftr_dwarf_types *types)
{
	return types->visited++ >= VISITS_MAX;
}

const struct ftr_type *ftr_dwarf_target(struct ftr_dwarf_types *types, Dwarf_Die *pointer)
{
	const char *alias = NULL;
	struct ftr_type *target;
	Dwarf_Die type;

	if (types->left == 0 || ftr_dwarf_is_enough(types) ||
	    !ftr_dwarf_type(pointer, &type, &alias) ||
	    dwarf_tag(&type) == DW_TAG_subroutine_type)
		return NULL;
	target = ftr_arena_alloc(types->arena, sizeof(*target));
	if (target == NULL)
		return NULL;
	types->left--;
	*target = ftr_dwarf_type_read(types, &type, alias);
	types->left++;
	return target->bytes > 0 && target->bytes <= BYTES_MAX ? target : NULL;
}

/*
 * A bit field's bits count from the struct's begin (DWARF 4), or from the highest bit of its unit
 * (before).  It is read from the byte that its first bit is in.
 */
static bool bits_read(Dwarf_Die *die, struct ftr_member *member)
{
	Dwarf_Word nr = number(die, DW_AT_bit_size, 0);
	Dwarf_Word unit = number(die, DW_AT_byte_size, member->type.bytes);
	Dwarf_Word first = number(die, DW_AT_data_bit_offset, BITS_MAX * BYTES_MAX);

	if (nr == 0)
		return true;
	if (first == BITS_MAX * BYTES_MAX)
		first = member->offset * 8 + unit * 8 - number(die, DW_AT_bit_offset, 0) - nr;
	if (nr > BITS_MAX || first / 8 > BYTES_MAX || first % 8 + nr > BITS_MAX)
		return false;
	member->offset = (uint32_t)(first / 8);
	member->bit = (uint8_t)(first % 8);
	member->bit_nr = (uint8_t)nr;
	return true;
}

static bool member_read(struct ftr_dwarf_types *types, Dwarf_Die *die, struct ftr_member *member)
{
	Dwarf_Word at = number(die, DW_AT_data_member_location, 0);
	const char *alias = NULL;
	Dwarf_Die type;

	if ((dwarf_tag(die) != DW_TAG_member && dwarf_tag(die) != DW_TAG_inheritance) ||
	    ftr_dwarf_is_flag(die, DW_AT_external) || ftr_dwarf_is_flag(die, DW_AT_declaration) ||
	    number(die, DW_AT_virtuality, 0) != 0 || at > BYTES_MAX ||
	    ftr_dwarf_is_enough(types) || !ftr_dwarf_type(die, &type, &alias))
		return false;
	*member = (struct ftr_member){
		.name = ftr_dwarf_plain_name(types->arena, dwarf_diename(die)),
		.offset = (uint32_t)at,
		.type = ftr_dwarf_type_read(types, &type, alias),
	};
	return bits_read(die, member);
}

/* A base that has nothing is no part of an object that anybody sees. */
static bool is_empty_base(Dwarf_Die *die, const struct ftr_member *member)
{
	return dwarf_tag(die) == DW_TAG_inheritance && member->type.kind == FTR_TYPE_OPAQUE &&
	       member->type.members == NULL && member->type.container == NULL &&
	       member->type.bytes <= 1;
}

static const struct ftr_members *members_keep(struct ftr_dwarf_types *types,
					      const struct ftr_member *members, uint32_t nr)
{
	struct ftr_members *kept;

	kept = ftr_arena_alloc(types->arena, sizeof(*kept) + nr * sizeof(members[0]));
	if (kept == NULL)
		return NULL;
	kept->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		kept->v[i] = members[i];
	return kept;
}

static void struct_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_type *read)
{
	FTR_VEC(struct ftr_member) members = { 0 };
	struct ftr_member member;
	Dwarf_Die die;
	int ret = dwarf_child(type, &die);

	for (; ret == 0 && members.nr < MEMBERS_MAX; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) == DW_TAG_variant_part) {	/* which ones count is not known */
			members.nr = 0;
			break;
		}
		if (member_read(types, &die, &member) && !is_empty_base(&die, &member) &&
		    ftr_vec_push(&members, member) < 0)
			break;
	}
	if (members.nr > 0)
		read->members = members_keep(types, members.v, (uint32_t)members.nr);
	ftr_vec_fini(&members);
}

static bool tuple_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_type *read)
{
	struct ftr_member members[MEMBERS_MAX];
	uint32_t nr = ftr_dwarf_tuple(types, type, members, MEMBERS_MAX);

	if (nr > 0)
		read->members = members_keep(types, members, nr);
	return nr > 0;
}

static void array_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_type *read)
{
	struct ftr_type *element = ftr_arena_alloc(types->arena, sizeof(*element));
	const char *alias = NULL;
	Dwarf_Word bytes = 0;
	Dwarf_Die inner;

	if (element == NULL || dwarf_aggregate_size(type, &bytes) != 0 || bytes > BYTES_MAX ||
	    !ftr_dwarf_type(type, &inner, &alias))
		return;
	*element = ftr_dwarf_type_read(types, &inner, alias);
	if (element->bytes == 0)
		return;
	read->kind = FTR_TYPE_ARRAY;
	read->bytes = (uint32_t)bytes;
	read->inner = element;
	read->nr = (uint32_t)bytes / element->bytes;
}

void ftr_dwarf_members(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_type *read)
{
	Dwarf_Die part;
	/* An enum of Rust is a value to its users, and no struct. */
	bool is_asked = types->depth > 0 || types->nesting > 0 ||
			ftr_dwarf_variant_part(type, &part);

	if (!is_asked || types->nesting == NESTING_MAX)
		return;
	types->nesting++;
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		read->container = ftr_dwarf_container(types, type);
		if (read->container == NULL && !tuple_read(types, type, read))
			struct_read(types, type, read);
		break;
	case DW_TAG_array_type:
		if (types->nesting > 1)
			array_read(types, type, read);
		break;
	default:
		break;
	}
	types->nesting--;
}
