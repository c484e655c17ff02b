/* SPDX-License-Identifier: MIT */
/* What programs say of themselves (libmcount/ftr.h): records of it, and events of the stream. */
#ifndef FTR_FORMAT_UFTRACE_USER_H
#define FTR_FORMAT_UFTRACE_USER_H

#include <stdint.h>

#include "utils/base/strpool.h"
#include "utils/trace/event.h"

#define FTR_USER_PREFIX "user:"		/* of their names, which are the program's */

/*
 * @ev is as it was recorded, with @payload if any, and becomes what it means; other events stay as
 * they are.  Names are kept in @names.  0 or -ENOMEM.
 */
int uft_user_event(struct ftr_strpool *names, struct ftr_event *ev, struct ftr_payload *payload);

/*
 * The reverse: the id under which @ev is recorded, with its data at @to, which has @room; 0 = it is
 * none of these, or does not fit.  @caller is where it came from in the program, 0 = not known.
 */
uint64_t uft_user_record(const struct ftr_event *ev, uint64_t caller, uint8_t *to, size_t room,
			 size_t *bytes);

#endif /* FTR_FORMAT_UFTRACE_USER_H */
