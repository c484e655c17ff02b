/* SPDX-License-Identifier: MIT */
/* Which library calls are hooked, for others than the maker of their section. */
#ifndef FTR_RECORD_LIBCALLS_H
#define FTR_RECORD_LIBCALLS_H

#include "utils/base/option.h"

/* Of those that were @given to all makers: as if --force was. */
void ftr_libcalls_imply(struct ftr_option_values *given);

#endif /* FTR_RECORD_LIBCALLS_H */
