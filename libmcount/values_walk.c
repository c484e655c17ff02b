/* SPDX-License-Identifier: MIT */
/* See values_walk.h.  Called inside hooks, so without libc. */
#include "libmcount/values_walk.h"

#define WORDS_NR 4			/* of a node, at most, before what is in it */
#define NODE_STEPS_MAX 64u		/* of a value's nodes, whatever they lead to */
#define PIECES_MAX 16u

static bool word_read(const struct ftr_walk *walk, uintptr_t *word, uintptr_t address)
{
	return ftr_from_copy(walk->from, (uint8_t *)word, address, sizeof(*word), false) ==
	       sizeof(*word);
}

/* Of a node of a tree. */
struct links {
	uintptr_t parent, left, right;
};

static bool links_read(struct ftr_walk *walk, struct links *links, uintptr_t node)
{
	bool is_left_first = walk->inner->where == FTR_VALUE_NODES_TREE_LEFT;
	uint32_t bytes = (is_left_first ? WORDS_NR - 1 : WORDS_NR) * sizeof(uintptr_t);
	uintptr_t words[WORDS_NR];

	if (node == 0 || walk->steps++ >= NODE_STEPS_MAX ||
	    ftr_from_copy(walk->from, (uint8_t *)words, node, bytes, false) != bytes)
		return false;
	*links = is_left_first ? (struct links){ words[2], words[0], words[1] } :
				 (struct links){ words[1], words[2], words[3] };
	return true;
}

/* The next in order: the leftmost on the right, else the first above that it is on the left of. */
static uintptr_t tree_next(struct ftr_walk *walk, uintptr_t node)
{
	struct links links;
	uintptr_t above;

	if (!links_read(walk, &links, node))
		return 0;
	if (links.right != 0) {
		node = links.right;
		while (links_read(walk, &links, node) && links.left != 0)
			node = links.left;
		return node;
	}
	for (above = links.parent; links_read(walk, &links, above); above = links.parent) {
		if (links.right != node)
			return above;
		node = above;
	}
	return 0;
}

/* False: that is not to be known. */
static bool node_next(struct ftr_walk *walk, uintptr_t *node)
{
	switch (walk->inner->where) {
	case FTR_VALUE_NODES_TREE:
	case FTR_VALUE_NODES_TREE_LEFT:
		*node = tree_next(walk, *node);
		return *node != 0;
	case FTR_VALUE_NODES_CHAIN_SECOND:
		return word_read(walk, node, *node + sizeof(uintptr_t));
	default:
		return word_read(walk, node, *node);
	}
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
