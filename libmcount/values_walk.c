/* SPDX-License-Identifier: MIT */
/* See values_walk.h.  Called inside hooks, so without libc. */
#include "libmcount/values_walk.h"

#define LINK_PARENT 1			/* words of a node of a tree */
#define LINK_LEFT 2
#define LINK_RIGHT 3
#define LINK_NR 4
#define NODE_STEPS_MAX 64u		/* of a value's nodes, whatever they lead to */
#define PIECES_MAX 16u

static bool word_read(const struct ftr_walk *walk, uintptr_t *word, uintptr_t address)
{
	return ftr_from_copy(walk->from, (uint8_t *)word, address, sizeof(*word), false) ==
	       sizeof(*word);
}

static bool links_read(struct ftr_walk *walk, uintptr_t links[LINK_NR], uintptr_t node)
{
	uint32_t bytes = LINK_NR * sizeof(links[0]);

	return node != 0 && walk->steps++ < NODE_STEPS_MAX &&
	       ftr_from_copy(walk->from, (uint8_t *)links, node, bytes, false) == bytes;
}

/* The next in order: the leftmost on the right, else the first above that it is on the left of. */
static uintptr_t tree_next(struct ftr_walk *walk, uintptr_t node)
{
	uintptr_t links[LINK_NR], above;

	if (!links_read(walk, links, node))
		return 0;
	if (links[LINK_RIGHT] != 0) {
		node = links[LINK_RIGHT];
		while (links_read(walk, links, node) && links[LINK_LEFT] != 0)
			node = links[LINK_LEFT];
		return node;
	}
	for (above = links[LINK_PARENT]; links_read(walk, links, above);
	     above = links[LINK_PARENT]) {
		if (links[LINK_RIGHT] != node)
			return above;
		node = above;
	}
	return 0;
}

/* False: that is not to be known. */
static bool node_next(struct ftr_walk *walk, uintptr_t *node)
{
	if (walk->inner->where != FTR_VALUE_NODES_TREE)
		return word_read(walk, node, *node);
	*node = tree_next(walk, *node);
	return *node != 0;
}

/* A ring ends where the room does. */
uint32_t ftr_walk_nodes(struct ftr_walk *walk, uint8_t *to, uintptr_t node)
{
	const struct ftr_value_op *inner = walk->inner;
	uint32_t each = inner->what == FTR_VALUE_NODE ? inner->bytes : 0, nr = 0;
	bool tells_end = (inner->flags & FTR_VALUE_TELLS_END) != 0;

	if (each == 0)
		return 0;
	for (; walk->left > 0 && node != 0 && each <= walk->room - nr; walk->left--) {
		if (ftr_from_copy(walk->from, to + nr, node + inner->nr, each, false) != each)
			return nr;
		nr += each;
		if ((walk->left > 1 && each <= walk->room - nr) || tells_end) {
			if (!node_next(walk, &node))
				return nr;
		}
	}
	return tells_end && node == 0 ? nr | FTR_VALUE_ENDED : nr;
}

uint32_t ftr_walk_pieces(struct ftr_walk *walk, uint8_t *to, const struct ftr_walk_place ends[2])
{
	uintptr_t at = ends[0].at, end = ends[0].high, piece = ends[0].piece;
	uint32_t nr = 0, want, have;

	for (unsigned i = 0; i < PIECES_MAX; i++) {
		if (piece == ends[1].piece)
			end = ends[1].at;
		if (end < at)
			break;
		want = end - at < walk->room - nr ? (uint32_t)(end - at) : walk->room - nr;
		have = ftr_from_copy(walk->from, to + nr, at, want, false);
		nr += have;
		piece += sizeof(uintptr_t);
		if (have < want || nr == walk->room || end == ends[1].at ||
		    !word_read(walk, &at, piece))
			break;
		end = at + (ends[0].high - ends[0].low);
	}
	return nr;
}
