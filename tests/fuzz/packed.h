/* SPDX-License-Identifier: MIT */
/* A directory in memory with its files of records packed. */
#ifndef FTR_TESTS_FUZZ_PACKED_H
#define FTR_TESTS_FUZZ_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ftr_strbuf;

/*
 * Append to @to the directory of the @size bytes at @data (format/dir.h), with each TID.dat and
 * TID.event packed in some blocks that end anywhere; @random chooses where.  False: it has packed
 * files already.
 */
bool fuzz_packed(const uint8_t *data, size_t size, uint32_t random, struct ftr_strbuf *to);

#endif /* FTR_TESTS_FUZZ_PACKED_H */
