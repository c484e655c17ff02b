/* SPDX-License-Identifier: MIT */
/* See shape_words.h. */
#include "utils/record/shape_words.h"

void ftr_shape_words_scalar(struct ftr_strbuf *words, const struct ftr_type *type)
{
	static const char letters[] = {
		[FTR_TYPE_SIGNED] = 'i', [FTR_TYPE_UNSIGNED] = 'u', [FTR_TYPE_CHAR] = 'c',
		[FTR_TYPE_FLOAT] = 'f',	 [FTR_TYPE_BOOL] = 'b',
	};
	static const char wide[] = {
		[FTR_WIDE_SIGNED] = 'i', [FTR_WIDE_UNSIGNED] = 'u', [FTR_WIDE_COMPLEX] = 'z',
	};
	uint32_t bytes = type->kind == FTR_TYPE_FLOAT && type->bytes > 8 ? 10 : type->bytes;

	if ((size_t)type->kind < sizeof(letters) && letters[type->kind] != '\0' && bytes > 0 &&
	    (type->kind != FTR_TYPE_FLOAT || bytes >= 4))
		ftr_strbuf_printf(words, "%c%u", letters[type->kind], bytes * 8);
	else if (type->kind == FTR_TYPE_OPAQUE && type->wide != FTR_WIDE_NONE)
		ftr_strbuf_printf(words, "%c%u", wide[type->wide], type->bytes * 8);
	else
		ftr_strbuf_printf(words, "t%u", type->bytes);
}

void ftr_shape_words_text(struct ftr_strbuf *words, const struct ftr_type *type, uint32_t to,
			  uint32_t room)
{
	ftr_strbuf_putc(words, 's');
	if (!type->text.is_libcxx)
		ftr_strbuf_printf(words, "%u", type->text.pointer);
	ftr_strbuf_printf(words, ">%u+%u", to, room);
}

void ftr_shape_words_number(struct ftr_strbuf *words, const struct ftr_container *list)
{
	const struct ftr_number *number = list->number;

	if (list->is_open) {
		ftr_strbuf_puts(words, "?");
		return;
	}
	if (number == NULL) {
		ftr_strbuf_printf(words, "%u%c", list->length,
				  list->kind == FTR_CONTAINER_ENDS ? '-' : '@');
		return;
	}
	ftr_strbuf_printf(words, "=%u", number->divisor);
	for (uint32_t i = 0; i < number->nr; i++) {
		const struct ftr_number_term *term = &number->v[i];

		ftr_strbuf_printf(words, "%c%u.%u*%u", term->is_minus ? '-' : '+', term->at,
				  term->bytes, term->factor);
	}
	ftr_strbuf_putc(words, '@');
}
