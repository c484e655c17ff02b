/* SPDX-License-Identifier: MIT */
/*
 * Where a stopped thread goes on, and what it then returns to, by the call frame information of its
 * code: no word counts that an ended call has left on its stack (doc/adr/0107).
 */
#ifndef FTR_ATTACH_CALLERS_H
#define FTR_ATTACH_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/attach/place.h"

/*
 * Find information for where the stopped thread @tid is, and what it returns to, which takes long:
 * others may run meanwhile.  ftr_callers_show then has what it needs, should it still be there.
 */
void ftr_callers_learn(struct ftr_places *places, pid_t tid);

/* Something else is mapped now: what was learned may be wrong. */
void ftr_callers_forget(struct ftr_places *places);

/*
 * Call @take with all these addresses of the stopped thread @tid, and with some that are not.
 * False: it may go on elsewhere, too.  What was learned has not led from frame to frame up to
 * where a thread or the program begins; or a handler's frame is on its stacks that is none of
 * those, as that of a coroutine which was interrupted would be.
 */
bool ftr_callers_show(struct ftr_places *places, pid_t tid,
		      void (*take)(void *arg, uint64_t addr), void *arg);

#endif /* FTR_ATTACH_CALLERS_H */
