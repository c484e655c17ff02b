/* SPDX-License-Identifier: MIT */
/* How many parameters a C++ function has, by its mangled name. */
#ifndef FTR_OBJECT_PARAM_COUNT_H
#define FTR_OBJECT_PARAM_COUNT_H

/* Of the function @mangled, without "this" and "..."; -1: it does not say, or out of memory. */
int ftr_param_count(const char *mangled);

#endif /* FTR_OBJECT_PARAM_COUNT_H */
