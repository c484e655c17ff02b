/* SPDX-License-Identifier: MIT */
/* See dwarf_libcxx.h.  Nothing is believed of a file: what is not as expected is none. */
#include "utils/object/dwarf_libcxx.h"

#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_elements.h"
#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_members.h"
#include "utils/object/dwarf_search.h"

#define WORD 8u
#define STRING_BYTES 24

static bool is_word(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == WORD;
}

static bool is_any(Dwarf_Die *type)
{
	return true;
}

/* A member, or the first of the pair that it is compressed to, with what takes no room. */
static bool member_find(Dwarf_Die *type, const char *name, bool (*is_it)(Dwarf_Die *type),
			struct ftr_dwarf_found *found)
{
	struct ftr_dwarf_found pair;

	if (ftr_dwarf_member_find(type, name, is_it, found))
		return true;
	if (!ftr_dwarf_member_find(type, name, ftr_dwarf_is_object, &pair) ||
	    !ftr_dwarf_member_find(&pair.type, "__value_", is_it, found))
		return false;
	found->offset += pair.offset;
	return true;
}

/* The number of elements: in a pair with something else, or, since version 20, by itself. */
static bool size_read(Dwarf_Die *type, const char *pair, struct ftr_container *read)
{
	struct ftr_dwarf_found size;

	if (!member_find(type, pair, is_word, &size) &&
	    !member_find(type, "__size_", is_word, &size))
		return false;
	read->kind = FTR_CONTAINER_SIZE;
	read->length = size.offset;
	return true;
}

static bool nodes_read(struct ftr_dwarf_types *types, Dwarf_Die *type, const char *name,
		       const struct ftr_dwarf_nodes *nodes, struct ftr_container *read)
{
	struct ftr_dwarf_found first;

	if (!ftr_dwarf_member_find(type, name, ftr_dwarf_is_pointer, &first))
		return false;
	ftr_dwarf_nodes(types, type, &first, nodes, read);
	return true;
}

/* Left, right, parent, and a color, behind which is room for what is in the node. */
bool ftr_libcxx_tree(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_TREE_LEFT, 3 * WORD + 1 };

	return size_read(type, "__pair3_", read) &&
	       nodes_read(types, type, "__begin_node_", &nodes, read);
}

/* The next, and a hash. */
bool ftr_libcxx_table(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN, 2 * WORD };

	return size_read(type, "__p2_", read) && nodes_read(types, type, "__next_", &nodes, read);
}

bool ftr_libcxx_list(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN_SECOND, 2 * WORD };

	return size_read(type, "__size_alloc_", read) &&
	       nodes_read(types, type, "__next_", &nodes, read);
}

bool ftr_libcxx_forward_list(struct ftr_dwarf_types *types, Dwarf_Die *type,
			     struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN, WORD };

	read->is_open = true;
	return nodes_read(types, type, "__next_", &nodes, read) &&
	       read->kind == FTR_CONTAINER_CHAIN;
}

/* Where its elements begin takes a division, which neither shapes nor the runtime do. */
bool ftr_libcxx_deque(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	return size_read(type, "__size_", read);
}

bool ftr_libcxx_bits(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found begin;

	if (!ftr_dwarf_member_find(type, "__begin_", ftr_dwarf_is_pointer, &begin) ||
	    !size_read(type, "__size_", read))
		return false;
	read->kind = FTR_CONTAINER_BITS;
	read->at = begin.offset;
	ftr_dwarf_bit_type(types, read);
	return true;
}

/* One base for each value, in their order. */
uint32_t ftr_libcxx_tuple(struct ftr_dwarf_types *types, Dwarf_Die *type,
			  struct ftr_member members[], uint32_t room)
{
	struct ftr_dwarf_found base, value;
	Dwarf_Die die, leaf;
	uint32_t nr = 0, at;
	int ret;

	if (!ftr_dwarf_member_find(type, "__base_", ftr_dwarf_is_object, &base))
		return 0;
	ret = dwarf_child(&base.type, &die);
	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_inheritance)
			continue;
		if (nr == room || ftr_dwarf_is_enough(types) || !ftr_dwarf_offset_of(&die, &at) ||
		    !ftr_dwarf_type(&die, &leaf, NULL) ||
		    !ftr_dwarf_member_find(&leaf, "__value_", is_any, &value))
			return 0;
		members[nr++] = (struct ftr_member){
			.name = "",
			.offset = base.offset + at + value.offset,
			.type = ftr_dwarf_type_read(types, &value.type, NULL),
		};
	}
	return nr;
}

/* Short ones have their characters behind a byte, long ones a pointer in the last word. */
bool ftr_libcxx_is_string(Dwarf_Die *type)
{
	struct ftr_dwarf_found far, near;

	return dwarf_bytesize(type) == STRING_BYTES &&
	       ftr_dwarf_member_find(type, "__data_", ftr_dwarf_is_pointer, &far) &&
	       ftr_dwarf_member_find(type, "__data_", ftr_dwarf_is_array, &near) &&
	       far.offset == 2 * WORD && near.offset == 1;
}
