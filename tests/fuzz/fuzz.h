/* SPDX-License-Identifier: MIT */
/* What libFuzzer, or tests/fuzz/replay, calls. */
#ifndef FTR_TESTS_FUZZ_H
#define FTR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FTR_TESTS_FUZZ_H */
