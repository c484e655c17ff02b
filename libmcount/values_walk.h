/* SPDX-License-Identifier: MIT */
/*
 * Elements of containers that are not in a row: in nodes that lead to one another, or in pieces.
 * Nothing is believed of what leads to them: a walk ends where the room does, at what cannot be
 * read, and after so many steps.
 */
#ifndef LIBMCOUNT_VALUES_WALK_H
#define LIBMCOUNT_VALUES_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/proto/values.h"

/* Where the values of a call are taken from (libmcount/values.c). */
struct ftr_from;

/* As many of the @bytes at @address as there are; of a text, up to its NUL. */
uint32_t ftr_from_copy(const struct ftr_from *from, uint8_t *to, uintptr_t address,
		       uint32_t bytes, bool is_text);

struct ftr_walk {
	const struct ftr_from *from;	/* (borrowed) */
	const struct ftr_value_op *inner;	/* of nodes: the op behind, perhaps a NODE */
	uint64_t left;				/* nodes that there are at most */
	uint32_t room;				/* bytes of elements */
	uint32_t steps;				/* 0 */
};

/* A place in pieces: utils/proto/values.h. */
struct ftr_walk_place {
	uintptr_t at, low, high, piece;
};

/* Copy what is in the nodes from @node on: how many bytes, and perhaps FTR_VALUE_ENDED. */
uint32_t ftr_walk_nodes(struct ftr_walk *walk, uint8_t *to, uintptr_t node);

/* Copy what is between two places: how many bytes. */
uint32_t ftr_walk_pieces(struct ftr_walk *walk, uint8_t *to, const struct ftr_walk_place ends[2]);

#endif /* LIBMCOUNT_VALUES_WALK_H */
