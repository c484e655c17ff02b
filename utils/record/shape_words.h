/* SPDX-License-Identifier: MIT */
/* Words of shapes (utils/trace/shape.h) that say what a type is, wherever a value of it stands. */
#ifndef FTR_RECORD_SHAPE_WORDS_H
#define FTR_RECORD_SHAPE_WORDS_H

#include "utils/base/strbuf.h"
#include "utils/object/signature.h"

/* A number or a truth value; anything else by its bytes. */
void ftr_shape_words_scalar(struct ftr_strbuf *words, const struct ftr_type *type);

/* A text of @room bytes at @to. */
void ftr_shape_words_text(struct ftr_strbuf *words, const struct ftr_type *type, uint32_t to,
			  uint32_t room);

/* How it is known how many elements @list has. */
void ftr_shape_words_number(struct ftr_strbuf *words, const struct ftr_container *list);

#endif /* FTR_RECORD_SHAPE_WORDS_H */
