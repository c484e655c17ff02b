/* SPDX-License-Identifier: MIT */
/* What every unit test includes: cmocka, which needs these headers before its own. */
#ifndef FTR_TESTS_UNIT_H
#define FTR_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* FTR_TESTS_UNIT_H */
