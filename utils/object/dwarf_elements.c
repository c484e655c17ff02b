/* SPDX-License-Identifier: MIT */
/* See dwarf_elements.h.  Nothing is believed of a file: what is not as expected is none. */
#include "utils/object/dwarf_elements.h"

#include <dwarf.h>

#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_members.h"

#define WORD 8u
#define OFFSET_MAX FTR_DWARF_OFFSET_MAX
#define PIECE_BYTES 512u		/* of a deque's elements, as many as fit */
#define PLACE_WORDS 4u
#define BYTE_BITS 8u

bool ftr_dwarf_elements(struct ftr_dwarf_types *types, Dwarf_Die *pointer, Dwarf_Die *element,
			struct ftr_container *read)
{
	int64_t bytes = ftr_dwarf_bytes_of(element);
	const struct ftr_type *inner;

	if (bytes <= 0 || bytes > OFFSET_MAX)
		return false;
	read->element_bytes = (uint32_t)bytes;
	inner = ftr_dwarf_target(types, pointer);
	if (inner != NULL)
		read->inner = *inner;
	return true;
}

/* Compilers say it of std::allocator, or of its base. */
static bool allocator_type(Dwarf_Die *allocator, Dwarf_Die *element)
{
	Dwarf_Die die, base;
	int ret;

	if (ftr_dwarf_first_type(allocator, element))
		return true;
	ret = dwarf_child(allocator, &die);
	while (ret == 0 && dwarf_tag(&die) != DW_TAG_inheritance)
		ret = dwarf_siblingof(&die, &die);
	return ret == 0 && ftr_dwarf_type(&die, &base, NULL) &&
	       ftr_dwarf_first_type(&base, element);
}

/* What it has room for in its nodes: that of its allocator, the last of its types. */
static bool allocated_type(Dwarf_Die *type, Dwarf_Die *element)
{
	Dwarf_Die die, allocator;
	bool has_any = false;
	int ret = dwarf_child(type, &die);

	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) == DW_TAG_template_type_parameter)
			has_any = ftr_dwarf_type(&die, &allocator, NULL);
	}
	return has_any && allocator_type(&allocator, element);
}

void ftr_dwarf_nodes(struct ftr_dwarf_types *types, Dwarf_Die *type,
		     const struct ftr_dwarf_found *first, const struct ftr_dwarf_nodes *nodes,
		     struct ftr_container *read)
{
	Dwarf_Die element;
	uint32_t align;
	int64_t bytes;

	if (types->left == 0 || ftr_dwarf_is_enough(types) || !allocated_type(type, &element))
		return;
	bytes = ftr_dwarf_bytes_of(&element);
	align = ftr_dwarf_alignment_of(&element, 0);
	if (bytes <= 0 || bytes > OFFSET_MAX || align == 0)
		return;
	types->left--;
	read->inner = ftr_dwarf_type_read(types, &element, NULL);
	types->left++;
	read->kind = nodes->kind;
	read->at = first->offset;
	read->element_bytes = (uint32_t)bytes;
	read->element_at = (nodes->head_bytes + align - 1) / align * align;
}

bool ftr_dwarf_forward_list(struct ftr_dwarf_types *types, Dwarf_Die *type,
			    struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN, WORD };
	struct ftr_dwarf_found first;

	if (!ftr_dwarf_member_find(type, "_M_next", ftr_dwarf_is_pointer, &first))
		return false;
	read->is_open = true;
	ftr_dwarf_nodes(types, type, &first, &nodes, read);
	return read->kind == FTR_CONTAINER_CHAIN;
}

static struct ftr_number *number_new(struct ftr_dwarf_types *types, uint32_t divisor)
{
	struct ftr_number *number = ftr_arena_alloc(types->arena, sizeof(*number));

	if (number != NULL)
		*number = (struct ftr_number){ .divisor = divisor };
	return number;
}

static void term_add(struct ftr_number *number, uint32_t at, uint32_t bytes, uint32_t factor,
		     bool is_minus)
{
	number->v[number->nr++] = (struct ftr_number_term){ at, bytes, factor, is_minus };
}

/* A place of a deque: where its four words are, in the order that the ABI has. */
static bool place_find(Dwarf_Die *type, const char *name, uint32_t *at, Dwarf_Die *pointer)
{
	static const char *const names[] = { "_M_cur", "_M_first", "_M_last", "_M_node" };
	struct ftr_dwarf_found place, word;

	if (!ftr_dwarf_member_find(type, name, ftr_dwarf_is_object, &place))
		return false;
	*at = place.offset;
	for (uint32_t i = PLACE_WORDS; i-- > 0;) {
		if (!ftr_dwarf_member_find(&place.type, names[i], ftr_dwarf_is_pointer, &word) ||
		    word.offset != i * WORD)
			return false;
	}
	*pointer = word.type;
	return true;
}

/* Whole pieces between both places, what is before the last, and not what is before the first. */
static const struct ftr_number *deque_number(struct ftr_dwarf_types *types, uint32_t start,
					     uint32_t finish, uint32_t each)
{
	bool is_one = each >= PIECE_BYTES;	/* element in a piece */
	uint32_t piece = is_one ? 1 : PIECE_BYTES / each * each;
	struct ftr_number *number = number_new(types, is_one ? WORD : WORD * each);

	if (number == NULL)
		return NULL;
	term_add(number, finish + 3 * WORD, WORD, piece, false);
	term_add(number, start + 3 * WORD, WORD, piece, true);
	if (is_one)
		return number;
	term_add(number, finish, WORD, WORD, false);
	term_add(number, finish + WORD, WORD, WORD, true);
	term_add(number, start, WORD, WORD, true);
	term_add(number, start + WORD, WORD, WORD, false);
	return number;
}

bool ftr_dwarf_deque(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	uint32_t start, finish;
	Dwarf_Die pointer, element;

	if (!place_find(type, "_M_finish", &finish, &pointer) ||
	    !place_find(type, "_M_start", &start, &pointer) ||
	    finish != start + PLACE_WORDS * WORD || !ftr_dwarf_type(&pointer, &element, NULL))
		return false;
	read->kind = FTR_CONTAINER_PIECES;
	read->at = start;
	if (!ftr_dwarf_elements(types, &pointer, &element, read))
		return false;
	read->number = deque_number(types, start, finish, read->element_bytes);
	return read->number != NULL;
}

static bool is_offset(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) <= (int64_t)WORD;
}

static bool bit_find(Dwarf_Die *type, const char *name, struct ftr_dwarf_found *word,
		     struct ftr_dwarf_found *bit)
{
	struct ftr_dwarf_found place;

	if (!ftr_dwarf_member_find(type, name, ftr_dwarf_is_object, &place) ||
	    !ftr_dwarf_member_find(&place.type, "_M_p", ftr_dwarf_is_pointer, word) ||
	    !ftr_dwarf_member_find(&place.type, "_M_offset", is_offset, bit))
		return false;
	word->offset += place.offset;
	bit->offset += place.offset;
	return true;
}

void ftr_dwarf_bit_type(const struct ftr_dwarf_types *types, struct ftr_container *read)
{
	if (types->left > 0)
		read->inner = (struct ftr_type){ .kind = FTR_TYPE_BOOL, .bytes = 1 };
}

/* The first bit is the lowest of its word: nothing makes a vector begin at another. */
bool ftr_dwarf_bits(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found begin, first, end, behind;
	struct ftr_number *number = number_new(types, 1);

	if (number == NULL || !bit_find(type, "_M_start", &begin, &first) ||
	    !bit_find(type, "_M_finish", &end, &behind))
		return false;
	term_add(number, end.offset, WORD, BYTE_BITS, false);
	term_add(number, begin.offset, WORD, BYTE_BITS, true);
	term_add(number, behind.offset, (uint32_t)dwarf_bytesize(&behind.type), 1, false);
	term_add(number, first.offset, (uint32_t)dwarf_bytesize(&first.type), 1, true);
	read->kind = FTR_CONTAINER_BITS;
	read->at = begin.offset;
	read->number = number;
	ftr_dwarf_bit_type(types, read);
	return true;
}
