/* SPDX-License-Identifier: MIT */
/* Library calls, seen at the global offset tables they go through. */
#ifndef FTR_LIBMCOUNT_PROBE_PLT_H
#define FTR_LIBMCOUNT_PROBE_PLT_H

/*
 * Hook the calls listed in @table_fd (utils/proto/plt.h); closes it.  Called before the program's
 * own code runs.  A slot that cannot be hooked stays as it is.
 */
void ftr_plt_start(int table_fd) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PROBE_PLT_H */
