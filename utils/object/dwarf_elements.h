/* SPDX-License-Identifier: MIT */
/* Elements of containers, from DWARF: in a row, in nodes, in pieces, and bits. */
#ifndef FTR_OBJECT_DWARF_ELEMENTS_H
#define FTR_OBJECT_DWARF_ELEMENTS_H

#include <elfutils/libdw.h>

#include "utils/object/dwarf_search.h"
#include "utils/object/dwarf_type.h"

#define FTR_DWARF_TREE_LINKS 4u		/* words in front of what is in a node */

/*
 * Elements are what @pointer leads to, which is @element; not known, their number is still.  False:
 * not even how large they are.
 */
bool ftr_dwarf_elements(struct ftr_dwarf_types *types, Dwarf_Die *pointer, Dwarf_Die *element,
			struct ftr_container *read);

/*
 * Elements behind the @link_nr words of their nodes, the first of which @first leads to.  If they
 * are not known, how many there are still is.
 */
void ftr_dwarf_nodes(struct ftr_dwarf_types *types, Dwarf_Die *type,
		     const struct ftr_dwarf_found *first, uint32_t link_nr,
		     struct ftr_container *read);

/* The std::deque, std::vector<bool>, std::forward_list @type of libstdc++; false: it is none. */
bool ftr_dwarf_deque(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_dwarf_bits(struct ftr_dwarf_types *types, Dwarf_Die *type, struct ftr_container *read);
bool ftr_dwarf_forward_list(struct ftr_dwarf_types *types, Dwarf_Die *type,
			    struct ftr_container *read);

#endif /* FTR_OBJECT_DWARF_ELEMENTS_H */
