/* SPDX-License-Identifier: MIT */
/* Built without a decoder: nothing is moved. */
#include "utils/patch/move.h"

bool ftr_move_is_possible(void)
{
	return false;
}

enum ftr_move_state ftr_move(const struct ftr_code *code, unsigned want, uint64_t to,
			     struct ftr_moved *moved)
{
	return FTR_MOVE_UNDECODED;
}

bool ftr_move_has_short_branch(const struct ftr_code *code, size_t at)
{
	return true;
}

unsigned ftr_move_last_bytes(const struct ftr_code *code)
{
	return 0;
}

bool ftr_move_is_closed(const struct ftr_code *code)
{
	return false;
}
