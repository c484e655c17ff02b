/* SPDX-License-Identifier: MIT */
/*
 * Code of libmcount.so mapped a second time, from its file: where stubs are wanted that have data
 * of their own behind them, or that lie near the code that calls them.  No memory is ever both
 * written and run.
 */
#ifndef FTR_LIBMCOUNT_OWN_TEXT_H
#define FTR_LIBMCOUNT_OWN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Map the pages of @text, @bytes of them, over those at @mem.  False: the file that we were loaded
 * from is not there, or is another one by now; what is mapped at @mem then is of no use.
 */
bool ftr_own_text_map(uintptr_t mem, const char *text, uint32_t bytes)
	__attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_OWN_TEXT_H */
