/* SPDX-License-Identifier: MIT */
/* Processes that cannot be attached to. */
#ifndef FTR_ATTACH_REFUSAL_H
#define FTR_ATTACH_REFUSAL_H

#include <stdint.h>

#include "utils/base/err.h"

/* 0, or -errno with why not and a remedy. */
int ftr_attach_refusal(int32_t pid, struct ftr_err *err);

/* The same, of stopping its threads to read and write its memory. */
int ftr_attach_stop_refusal(int32_t pid, struct ftr_err *err);

#endif /* FTR_ATTACH_REFUSAL_H */
