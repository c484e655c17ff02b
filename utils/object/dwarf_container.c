/* SPDX-License-Identifier: MIT */
/* See dwarf_container.h.  Nothing is believed of a file: what is not as expected is none. */
#include "utils/object/dwarf_container.h"

#include <dwarf.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/object/dwarf_elements.h"
#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_libcxx.h"
#include "utils/object/dwarf_members.h"
#include "utils/object/dwarf_search.h"

#define WORD 8u
#define ALTERNATIVES_MAX 32
#define OFFSET_MAX FTR_DWARF_OFFSET_MAX

static bool is_word(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == WORD;
}

static bool is_byte(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1;
}

static bool is_any(Dwarf_Die *type)
{
	return true;
}

static bool ends_read(struct ftr_dwarf_types *types, Dwarf_Die *type, const char *begin,
		      const char *end, struct ftr_container *read)
{
	struct ftr_dwarf_found first, last;
	Dwarf_Die element;

	if (!ftr_dwarf_member_find(type, begin, ftr_dwarf_is_pointer, &first) ||
	    !ftr_dwarf_member_find(type, end, ftr_dwarf_is_pointer, &last) ||
	    !ftr_dwarf_type(&first.type, &element, NULL))
		return false;
	read->kind = FTR_CONTAINER_ENDS;
	read->at = first.offset;
	read->length = last.offset;
	return ftr_dwarf_elements(types, &first.type, &element, read);
}

static bool vector_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	return ends_read(types, type, "_M_start", "_M_finish", read) ||
	       ends_read(types, type, "__begin_", "__end_", read);
}

static bool size_read(Dwarf_Die *type, const char *name, struct ftr_container *read)
{
	struct ftr_dwarf_found size;

	if (!ftr_dwarf_member_find(type, name, is_word, &size))
		return false;
	read->kind = FTR_CONTAINER_SIZE;
	read->length = size.offset;
	return true;
}

/* Red-black: the header has the leftmost node on its left. */
static bool tree_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_TREE, 4 * WORD };
	struct ftr_dwarf_found first;

	if (!size_read(type, "_M_node_count", read))
		return false;
	if (ftr_dwarf_member_find(type, "_M_left", ftr_dwarf_is_pointer, &first))
		ftr_dwarf_nodes(types, type, &first, &nodes, read);
	return true;
}

static bool table_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN, WORD };
	struct ftr_dwarf_found first;

	if (!size_read(type, "_M_element_count", read))
		return false;
	if (ftr_dwarf_member_find(type, "_M_nxt", ftr_dwarf_is_pointer, &first))
		ftr_dwarf_nodes(types, type, &first, &nodes, read);
	return true;
}

static bool list_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	static const struct ftr_dwarf_nodes nodes = { FTR_CONTAINER_CHAIN, 2 * WORD };
	struct ftr_dwarf_found first;

	if (!size_read(type, "_M_size", read))
		return false;
	if (ftr_dwarf_member_find(type, "_M_next", ftr_dwarf_is_pointer, &first))
		ftr_dwarf_nodes(types, type, &first, &nodes, read);
	return true;
}

static bool hash_map_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
			  struct ftr_container *read)
{
	return size_read(type, "items", read);
}

static bool part_read(struct ftr_dwarf_types *types, const struct ftr_dwarf_found *part,
		      struct ftr_container *read)
{
	Dwarf_Die type = part->type;

	if (ftr_dwarf_is_enough(types))
		return false;
	read->kind = FTR_CONTAINER_PART;
	read->at = part->offset;
	read->inner = ftr_dwarf_type_read(types, &type, NULL);
	return read->inner.bytes > 0;
}

/* As libstdc++ calls it, or libc++. */
static bool either_find(Dwarf_Die *type, const char *name, const char *other,
			bool (*is_it)(Dwarf_Die *type), struct ftr_dwarf_found *found)
{
	return ftr_dwarf_member_find(type, name, is_it, found) ||
	       ftr_dwarf_member_find(type, other, is_it, found);
}

static bool unique_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found pointer;

	return (either_find(type, "_M_head_impl", "__ptr_", ftr_dwarf_is_pointer, &pointer) ||
		ftr_dwarf_member_find(type, "__value_", ftr_dwarf_is_pointer, &pointer)) &&
	       part_read(types, &pointer, read);
}

static bool shared_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found pointer;

	return either_find(type, "_M_ptr", "__ptr_", ftr_dwarf_is_pointer, &pointer) &&
	       part_read(types, &pointer, read);
}

static bool array_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found elements;

	return either_find(type, "_M_elems", "__elems_", ftr_dwarf_is_array, &elements) &&
	       part_read(types, &elements, read);
}

/* What the standard calls the container that it adapts. */
static bool adaptor_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found container;

	return ftr_dwarf_member_find(type, "c", ftr_dwarf_is_object, &container) &&
	       part_read(types, &container, read);
}

static struct ftr_alternatives *alternatives_new(struct ftr_dwarf_types *types, uint32_t nr)
{
	struct ftr_alternatives *made;

	made = ftr_arena_alloc(types->arena, sizeof(*made) + nr * sizeof(made->v[0]));
	if (made != NULL)
		made->nr = 0;
	return made;
}

/* Is the value there, by a byte behind it? */
static bool optional_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
			  struct ftr_container *read)
{
	struct ftr_alternatives *two = alternatives_new(types, 2);
	struct ftr_dwarf_found value, flag;

	if (two == NULL || ftr_dwarf_is_enough(types) ||
	    !either_find(type, "_M_engaged", "__engaged_", is_byte, &flag) ||
	    !either_find(type, "_M_value", "__val_", is_any, &value))
		return false;
	two->v[two->nr++] = (struct ftr_alternative){ .name = "nullopt" };
	two->v[two->nr++] = (struct ftr_alternative){
		.name = "", .is_default = true, .has_type = true, .offset = value.offset,
		.type = ftr_dwarf_type_read(types, &value.type, NULL),
	};
	read->kind = FTR_CONTAINER_VARIANT;
	read->at = flag.offset;
	read->element_bytes = 1;
	read->alternatives = two;
	return true;
}

static bool is_index(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) <= (int64_t)WORD;
}

/* The types that a variadic template was given: the first, and by dwarf_siblingof the others. */
static bool given_types(Dwarf_Die *type, Dwarf_Die *first)
{
	Dwarf_Die pack;
	int ret = dwarf_child(type, &pack);

	while (ret == 0 && dwarf_tag(&pack) != DW_TAG_GNU_template_parameter_pack)
		ret = dwarf_siblingof(&pack, &pack);
	return ret == 0 && dwarf_child(&pack, first) == 0;
}

static bool given_read(struct ftr_dwarf_types *types, Dwarf_Die *given, uint32_t offset,
		       struct ftr_alternatives *all)
{
	Dwarf_Die type;

	if (all->nr + 1 == ALTERNATIVES_MAX || ftr_dwarf_is_enough(types) ||
	    !ftr_dwarf_type(given, &type, NULL))
		return false;
	all->v[all->nr] = (struct ftr_alternative){
		.name = "", .has_type = true, .value = all->nr, .offset = offset,
		.type = ftr_dwarf_type_read(types, &type, NULL),
	};
	return all->v[all->nr++].type.bytes > 0;
}

/* A std::variant: which of its types, by their order; any other number says that it has none. */
static bool variant_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_alternatives *all = alternatives_new(types, ALTERNATIVES_MAX);
	struct ftr_dwarf_found value, index;
	Dwarf_Die given;
	int ret = 0;

	if (all == NULL || !either_find(type, "_M_index", "__index", is_index, &index) ||
	    !either_find(type, "_M_u", "__data", ftr_dwarf_is_object, &value) ||
	    !given_types(type, &given))
		return false;
	for (; ret == 0; ret = dwarf_siblingof(&given, &given)) {
		if (!given_read(types, &given, value.offset, all))
			return false;
	}
	all->v[all->nr++] = (struct ftr_alternative){ .name = "valueless", .is_default = true };
	read->kind = FTR_CONTAINER_VARIANT;
	read->at = index.offset;
	read->element_bytes = (uint32_t)dwarf_bytesize(&index.type);
	read->alternatives = all;
	return true;
}

static bool length_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
			const struct ftr_dwarf_found *pointer, const char *name,
			struct ftr_container *read)
{
	struct ftr_dwarf_found length;
	Dwarf_Die leads_to = pointer->type, element;

	if (!ftr_dwarf_member_find(type, name, is_word, &length) ||
	    !ftr_dwarf_type(&leads_to, &element, NULL))
		return false;
	read->kind = FTR_CONTAINER_LENGTH;
	read->at = pointer->offset;
	read->length = length.offset;
	return ftr_dwarf_elements(types, &leads_to, &element, read);
}

static bool slice_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	struct ftr_dwarf_found pointer;

	return ftr_dwarf_member_find(type, "data_ptr", ftr_dwarf_is_pointer, &pointer) &&
	       length_read(types, type, &pointer, "length", read);
}

/* Its pointer leads to bytes; what is in them is T. */
static bool rust_vec_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
			  struct ftr_container *read)
{
	struct ftr_dwarf_found pointer, length;
	Dwarf_Die element;
	int64_t bytes;

	if (!ftr_dwarf_pointer_find(type, 0, &pointer) ||
	    !ftr_dwarf_member_find(type, "len", is_word, &length) ||
	    !ftr_dwarf_first_type(type, &element))
		return false;
	bytes = ftr_dwarf_bytes_of(&element);
	if (bytes <= 0 || bytes > OFFSET_MAX)
		return false;
	read->kind = FTR_CONTAINER_LENGTH;
	read->at = pointer.offset;
	read->length = length.offset;
	read->element_bytes = (uint32_t)bytes;
	if (types->left > 0 && !ftr_dwarf_is_enough(types)) {
		types->left--;
		read->inner = ftr_dwarf_type_read(types, &element, NULL);
		types->left++;
	}
	return true;
}

/* Of 128 bits rustc writes a block. */
static bool discriminant_value(Dwarf_Attribute *attr, uint64_t *value)
{
	Dwarf_Word number = 0;
	Dwarf_Block block;

	if (dwarf_formudata(attr, &number) == 0) {
		*value = number;
		return true;
	}
	if (dwarf_formblock(attr, &block) != 0 || block.length != 2 * WORD ||
	    ftr_get_unsigned(block.data + WORD, WORD, false) != 0)
		return false;
	*value = ftr_get_unsigned(block.data, WORD, false);
	return true;
}

static bool alternative_read(struct ftr_dwarf_types *types, Dwarf_Die *variant,
			     struct ftr_alternative *read)
{
	Dwarf_Attribute attr;
	Dwarf_Die member, type;
	int ret = dwarf_child(variant, &member);

	while (ret == 0 && dwarf_tag(&member) != DW_TAG_member)
		ret = dwarf_siblingof(&member, &member);
	if (ret != 0 || !ftr_dwarf_type(&member, &type, NULL))
		return false;
	*read = (struct ftr_alternative){
		.name = ftr_dwarf_plain_name(types->arena, dwarf_diename(&member)),
		.is_default = dwarf_attr(variant, DW_AT_discr_value, &attr) == NULL,
	};
	if (!read->is_default && !discriminant_value(&attr, &read->value))
		return false;
	if (!ftr_dwarf_offset_of(&member, &read->offset))
		return false;
	read->type = ftr_dwarf_type_read(types, &type, NULL);
	read->has_type = read->type.members != NULL;
	return true;
}

/* Where the part of @type is whose value says which variant there is. */
static bool discriminant_read(Dwarf_Die *part, struct ftr_container *read)
{
	Dwarf_Attribute attr;
	Dwarf_Die member, type;
	int64_t bytes;

	if (dwarf_attr(part, DW_AT_discr, &attr) == NULL ||
	    dwarf_formref_die(&attr, &member) == NULL || !ftr_dwarf_offset_of(&member, &read->at) ||
	    !ftr_dwarf_type(&member, &type, NULL))
		return false;
	bytes = ftr_dwarf_bytes_of(&type);
	if (bytes == 2 * (int64_t)WORD)	/* the upper half of all that there are is 0 */
		bytes = WORD;
	read->element_bytes = (uint32_t)bytes;
	return bytes > 0 && bytes <= (int64_t)WORD;
}

/* An enum of Rust. */
static bool variants_read(struct ftr_dwarf_types *types, Dwarf_Die *part,
			  struct ftr_container *read)
{
	struct ftr_alternatives *all = alternatives_new(types, ALTERNATIVES_MAX);
	Dwarf_Die die;
	int ret = dwarf_child(part, &die);

	if (all == NULL || !discriminant_read(part, read))
		return false;
	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_variant)
			continue;
		if (all->nr == ALTERNATIVES_MAX || ftr_dwarf_is_enough(types) ||
		    !alternative_read(types, &die, &all->v[all->nr]))
			return false;
		all->nr++;
	}
	read->kind = FTR_CONTAINER_VARIANT;
	read->alternatives = all;
	return all->nr > 0;
}

/* Has the variant @type any bytes? */
static bool has_bytes(Dwarf_Die *type)
{
	Dwarf_Die die, part;
	Dwarf_Word bytes = 0;
	int ret = dwarf_child(type, &die);

	for (; ret == 0 && bytes == 0; ret = dwarf_siblingof(&die, &die)) {
		if (ftr_dwarf_is_part(&die) && ftr_dwarf_type(&die, &part, NULL) &&
		    dwarf_aggregate_size(&part, &bytes) != 0)
			bytes = 0;
	}
	return bytes > 0;
}

/* No value says which variant it is: the others, which have no bytes, cannot be made. */
static bool only_variant_read(struct ftr_dwarf_types *types, Dwarf_Die *part,
			      struct ftr_container *read)
{
	struct ftr_alternatives *all = alternatives_new(types, 1);
	Dwarf_Die die, member, type;
	int ret = dwarf_child(part, &die);

	for (; all != NULL && ret == 0; ret = dwarf_siblingof(&die, &die)) {
		if (dwarf_tag(&die) != DW_TAG_variant || dwarf_child(&die, &member) != 0 ||
		    !ftr_dwarf_type(&member, &type, NULL) || !has_bytes(&type))
			continue;
		if (all->nr > 0 || ftr_dwarf_is_enough(types) ||
		    !alternative_read(types, &die, &all->v[0]))
			return false;
		all->nr = 1;
	}
	read->kind = FTR_CONTAINER_VARIANT;
	read->element_bytes = 1;
	read->alternatives = all;
	return all != NULL && all->nr == 1 && all->v[0].is_default;
}

static bool enum_read(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read)
{
	Dwarf_Die part;

	if (!ftr_dwarf_variant_part(type, &part))
		return false;
	return dwarf_hasattr(&part, DW_AT_discr) ? variants_read(types, &part, read) :
						   only_variant_read(types, &part, read);
}

static const struct {
	const char *name;		/* with what its template's arguments begin with */
	bool (*read)(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
} kinds[] = {
	{ "vector<bool,", ftr_dwarf_bits },
	{ "vector<bool,", ftr_libcxx_bits },
	{ "vector<", vector_read },
	{ "deque<", ftr_dwarf_deque },
	{ "deque<", ftr_libcxx_deque },
	{ "forward_list<", ftr_dwarf_forward_list },
	{ "forward_list<", ftr_libcxx_forward_list },
	{ "stack<", adaptor_read },
	{ "queue<", adaptor_read },
	{ "priority_queue<", adaptor_read },
	{ "array<", array_read },
	{ "map<", tree_read },
	{ "map<", ftr_libcxx_tree },
	{ "multimap<", tree_read },
	{ "multimap<", ftr_libcxx_tree },
	{ "set<", tree_read },
	{ "set<", ftr_libcxx_tree },
	{ "multiset<", tree_read },
	{ "multiset<", ftr_libcxx_tree },
	{ "unordered_map<", table_read },
	{ "unordered_map<", ftr_libcxx_table },
	{ "unordered_multimap<", table_read },
	{ "unordered_multimap<", ftr_libcxx_table },
	{ "unordered_set<", table_read },
	{ "unordered_set<", ftr_libcxx_table },
	{ "unordered_multiset<", table_read },
	{ "unordered_multiset<", ftr_libcxx_table },
	{ "list<", list_read },
	{ "list<", ftr_libcxx_list },
	{ "optional<", optional_read },
	{ "variant<", variant_read },
	{ "unique_ptr<", unique_read },
	{ "shared_ptr<", shared_read },
	{ "Vec<", rust_vec_read },
	{ "&[", slice_read },
	{ "&mut [", slice_read },
	{ "HashMap<", hash_map_read },
	{ "HashSet<", hash_map_read },
	{ "", enum_read },
};

/* The value of the std::tuple @type, or of the rest of one, and where that rest is. */
static bool head_find(Dwarf_Die *type, struct ftr_dwarf_found *value, struct ftr_dwarf_found *rest)
{
	Dwarf_Die die, part;
	bool has_value = false;
	uint32_t at;
	int ret = dwarf_child(type, &die);

	rest->offset = UINT32_MAX;
	for (; ret == 0; ret = dwarf_siblingof(&die, &die)) {
		const char *name;

		if (!ftr_dwarf_is_part(&die) || !ftr_dwarf_offset_of(&die, &at) ||
		    !ftr_dwarf_type(&die, &part, NULL))
			continue;
		name = dwarf_diename(&part);
		if (name != NULL && strncmp(name, "_Tuple_impl<", strlen("_Tuple_impl<")) == 0) {
			*rest = (struct ftr_dwarf_found){ part, at };
		} else if (ftr_dwarf_member_find(&part, "_M_head_impl", is_any, value)) {
			value->offset += at;
			has_value = true;
		}
	}
	return has_value;
}

/* Values stand in bases of bases, the last one first: as users number them. */
uint32_t ftr_dwarf_tuple(struct ftr_dwarf_types *types, Dwarf_Die *type,
			 struct ftr_member members[], uint32_t room)
{
	const char *name = dwarf_diename(type);
	struct ftr_dwarf_found value, rest = { *type, 0 };
	uint32_t nr = 0, base = 0;

	if (name == NULL || strncmp(name, "tuple<", strlen("tuple<")) != 0)
		return 0;
	if (head_find(type, &value, &rest) || rest.offset == UINT32_MAX)
		return ftr_libcxx_tuple(types, type, members, room);
	while (rest.offset != UINT32_MAX) {
		Dwarf_Die part = rest.type;

		base += rest.offset;
		if (nr == room || ftr_dwarf_is_enough(types) || !head_find(&part, &value, &rest))
			return 0;
		members[nr++] = (struct ftr_member){
			.name = "",
			.offset = base + value.offset,
			.type = ftr_dwarf_type_read(types, &value.type, NULL),
		};
	}
	return nr;
}

const struct ftr_container *ftr_dwarf_container(struct ftr_dwarf_types *types, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	struct ftr_container *read, made = { 0 };
	bool is_one = false;
	size_t i;

	if (name == NULL || !ftr_dwarf_is_object(type))
		return NULL;
	for (i = 0; !is_one && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		made = (struct ftr_container){ 0 };
		is_one = strncmp(name, kinds[i].name, strlen(kinds[i].name)) == 0 &&
			 kinds[i].read(types, type, &made);
	}
	if (!is_one)
		return NULL;
	read = ftr_arena_alloc(types->arena, sizeof(*read));
	if (read != NULL)
		*read = made;
	return read;
}
