/* SPDX-License-Identifier: MIT */
/* Sets of processors as text. */
#ifndef FTR_VIEW_CPU_TEXT_H
#define FTR_VIEW_CPU_TEXT_H

#include "utils/base/strbuf.h"

struct ftr_cpu_set;

/* "00000005": eight hexadecimal digits or, with higher processors, as many more as it takes. */
void view_cpu_mask_text(const struct ftr_cpu_set *set, struct ftr_strbuf *text);
/* "0,2-5", or "-" for none. */
void view_cpu_list_text(const struct ftr_cpu_set *set, struct ftr_strbuf *text);

#endif /* FTR_VIEW_CPU_TEXT_H */
