/* SPDX-License-Identifier: MIT */
/*
 * Where a recorded call of a stopped process returns to, whose return address is a stub of the
 * runtime: as the call frame information of the stubs has it (arch/return_stubs.h), which not each
 * unwinder understands.  The memory is the program's, and may say anything.
 */
#ifndef FTR_ATTACH_STUBS_H
#define FTR_ATTACH_STUBS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/place.h"

/* Is the code of this range, which has call frame information of its own, that of the stubs? */
bool ftr_stubs_are(const struct ftr_places *places, const struct ftr_place_range *range);

struct ftr_stub {
	pid_t pid;
	uint64_t stubs;			/* where the first one is */
	uint64_t ip;			/* in one of them */
	uint64_t sp;			/* above the word that names the call */
};

/*
 * The return address, without a signature; 0: it is not known.  At most *@looks frames are looked
 * at, which is then less by so many: of all calls of a thread together.
 */
uint64_t ftr_stub_returns_to(const struct ftr_stub *stub, uint64_t *looks);

#endif /* FTR_ATTACH_STUBS_H */
