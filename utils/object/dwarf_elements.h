/* SPDX-License-Identifier: MIT */
/* Elements of containers, from DWARF: in a row, in nodes, in pieces, and bits. */
#ifndef FTR_OBJECT_DWARF_ELEMENTS_H
#define FTR_OBJECT_DWARF_ELEMENTS_H

#include <elfutils/libdw.h>

#include "utils/object/dwarf_search.h"
#include "utils/object/dwarf_type.h"

/*
 * Elements are what @pointer leads to, which is @element; not known, their number is still.  False:
 * not even how large they are.
 */
bool ftr_dwarf_elements(struct ftr_dwarf_types *types, Dwarf_Die *pointer, Dwarf_Die *element,
			struct ftr_container *read);

/* How the nodes of a container lead to one another, and what is in front of its element in each. */
struct ftr_dwarf_nodes {
	enum ftr_container_kind kind;
	uint32_t head_bytes;
};

/*
 * Elements in nodes, the first of which @first leads to.  If they are not known, how many there are
 * still is.
 */
void ftr_dwarf_nodes(struct ftr_dwarf_types *types, Dwarf_Die *type,
		     const struct ftr_dwarf_found *first, const struct ftr_dwarf_nodes *nodes,
		     struct ftr_container *read);

/* Elements are bits, as far as elements are known at all. */
void ftr_dwarf_bit_type(const struct ftr_dwarf_types *types, struct ftr_container *read);

/* The std::deque, std::vector<bool>, std::forward_list @type of libstdc++; false: it is none. */
bool ftr_dwarf_deque(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_dwarf_bits(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_dwarf_forward_list(struct ftr_dwarf_types *types, Dwarf_Die *type,
			    struct ftr_container *read);

#endif /* FTR_OBJECT_DWARF_ELEMENTS_H */
