/* SPDX-License-Identifier: MIT */
/* Numbers as exception handling information has them (.eh_frame, .gcc_except_table). */
#ifndef FTR_OBJECT_EH_CURSOR_H
#define FTR_OBJECT_EH_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cursor over bytes; once something is not there, all that follows is not either. */
struct ftr_eh_cursor {
	const uint8_t *at, *end;
	bool failed;
};

uint64_t ftr_eh_take(struct ftr_eh_cursor *in, size_t bytes);
uint64_t ftr_eh_take_uleb(struct ftr_eh_cursor *in);
void ftr_eh_skip(struct ftr_eh_cursor *in, uint64_t bytes);

/* Bytes of a number of this DW_EH_PE_* encoding; 0 = it has no fixed size. */
size_t ftr_eh_encoded_bytes(uint8_t encoding);

/* One of them, at @place of its section. */
uint64_t ftr_eh_take_encoded(struct ftr_eh_cursor *in, uint8_t encoding, uint64_t place);

#endif /* FTR_OBJECT_EH_CURSOR_H */
