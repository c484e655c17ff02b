/* SPDX-License-Identifier: MIT */
/* Names of threads: where the kernel does not report them to the recorder, the runtime does. */
#ifndef FTR_LIBMCOUNT_PROBE_NAME_H
#define FTR_LIBMCOUNT_PROBE_NAME_H

#include <stdint.h>

/* Thread @tid of this process (0: the caller) has been named: report it if the probe is on. */
void ftr_name_report(int32_t tid) __attribute__((visibility("hidden")));

#endif /* FTR_LIBMCOUNT_PROBE_NAME_H */
