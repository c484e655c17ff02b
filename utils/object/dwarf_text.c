/* SPDX-License-Identifier: MIT */
/* See dwarf_text.h. */
#include "utils/object/dwarf_text.h"

#include <dwarf.h>
#include <string.h>

#include "utils/object/dwarf_leaves.h"

#define WORD 8u
#define OBJECT_BYTES_MAX 64		/* no text's head is larger */
#define DEPTH_MAX 8			/* of structs around a pointer */

/* A member of @type that @is_it, its type and its offset. */
static bool member_find(Dwarf_Die *type, bool (*is_it)(Dwarf_Die *member, const void *arg),
			const void *arg, Dwarf_Die *member_type, uint32_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0;
	Dwarf_Die member;
	int ret = dwarf_child(type, &member);

	for (; ret == 0; ret = dwarf_siblingof(&member, &member)) {
		if (dwarf_tag(&member) != DW_TAG_member || !is_it(&member, arg) ||
		    !ftr_dwarf_type(&member, member_type, NULL))
			continue;
		if (dwarf_attr(&member, DW_AT_data_member_location, &attr) != NULL &&
		    dwarf_formudata(&attr, &at) != 0)
			return false;
		*offset = (uint32_t)at;
		return at <= OBJECT_BYTES_MAX - WORD;
	}
	return false;
}

static bool is_named(Dwarf_Die *member, const void *name)
{
	const char *there = dwarf_diename(member);

	return there != NULL && strcmp(there, name) == 0;
}

static bool is_not_empty(Dwarf_Die *member, const void *unused)
{
	Dwarf_Die type;

	return ftr_dwarf_type(member, &type, NULL) && dwarf_bytesize(&type) != 0 &&
	       (dwarf_tag(&type) == DW_TAG_pointer_type ||
		dwarf_tag(&type) == DW_TAG_structure_type);
}

/* The first pointer in the first struct that has one, however deep: RawVec's. */
static bool pointer_find(Dwarf_Die *type, uint32_t *offset)
{
	Dwarf_Die here = *type, next;
	uint32_t at;

	*offset = 0;
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		if (dwarf_tag(&here) == DW_TAG_pointer_type)
			return *offset <= OBJECT_BYTES_MAX - WORD;
		if (!member_find(&here, is_not_empty, NULL, &next, &at))
			return false;
		*offset += at;
		here = next;
	}
	return false;
}

static bool is_word(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == WORD;
}

/* Two members by their names. */
static bool pair_read(Dwarf_Die *type, const char *pointer, const char *length,
		      struct ftr_text_parts *text)
{
	Dwarf_Die type_of_pointer, type_of_length;

	return member_find(type, is_named, pointer, &type_of_pointer, &text->pointer) &&
	       dwarf_tag(&type_of_pointer) == DW_TAG_pointer_type &&
	       member_find(type, is_named, length, &type_of_length, &text->length) &&
	       is_word(&type_of_length);
}

static bool view_read(Dwarf_Die *type, struct ftr_text_parts *text)
{
	return pair_read(type, "_M_str", "_M_len", text) ||
	       pair_read(type, "__data_", "__size_", text) ||
	       pair_read(type, "__data", "__size", text);
}

static bool slice_read(Dwarf_Die *type, struct ftr_text_parts *text)
{
	return pair_read(type, "data_ptr", "length", text);
}

/* String { vec: Vec { buf: RawVec { ... pointer ... }, len } } */
static bool string_read(Dwarf_Die *type, struct ftr_text_parts *text)
{
	Dwarf_Die vec, part;
	uint32_t at, to_part, to_pointer;

	if (!member_find(type, is_named, "vec", &vec, &at) ||
	    !member_find(&vec, is_named, "len", &part, &to_part) || !is_word(&part))
		return false;
	text->length = at + to_part;
	if (!member_find(&vec, is_named, "buf", &part, &to_part) ||
	    !pointer_find(&part, &to_pointer))
		return false;
	text->pointer = at + to_part + to_pointer;
	return true;
}

bool ftr_dwarf_text(Dwarf_Die *type, struct ftr_text_parts *text)
{
	static const struct {
		const char *name;
		size_t len;		/* of the name that counts; 0: all of it */
		bool (*read)(Dwarf_Die *type, struct ftr_text_parts *text);
	} kinds[] = {
		{ "basic_string_view<char,", 23, view_read },
		{ "&str", 0, slice_read },
		{ "&mut str", 0, slice_read },
		{ "String", 0, string_read },
	};
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);
	int64_t bytes = dwarf_bytesize(type);

	if ((tag != DW_TAG_class_type && tag != DW_TAG_structure_type) || name == NULL ||
	    bytes < 2 * (int64_t)WORD || bytes > OBJECT_BYTES_MAX)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = kinds[i].len != 0 ? kinds[i].len : strlen(name) + 1;

		if (strncmp(name, kinds[i].name, len) == 0)
			return kinds[i].read(type, text) && text->pointer + WORD <= bytes &&
			       text->length + WORD <= bytes;
	}
	return false;
}
