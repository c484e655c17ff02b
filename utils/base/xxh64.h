/* SPDX-License-Identifier: MIT */
/* XXH64 with seed 0, the checksum of zstd frames (RFC 8878, 3.1.1). */
#ifndef FTR_BASE_XXH64_H
#define FTR_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t ftr_xxh64(const void *bytes, size_t nr);

#endif /* FTR_BASE_XXH64_H */
