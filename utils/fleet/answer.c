/* SPDX-License-Identifier: MIT */
/* What a server answered, as RowBinary. */
#include "utils/fleet/answer.h"

#include <string.h>

#include "utils/base/bytes.h"

struct ftr_answer ftr_answer_of(const struct ftr_strbuf *text)
{
	const uint8_t *bytes = (const uint8_t *)ftr_strbuf_str(text);

	return (struct ftr_answer){ bytes, bytes + text->len, false };
}

bool ftr_answer_has_more(const struct ftr_answer *answer)
{
	return answer->p < answer->end && !answer->is_cut;
}

uint64_t ftr_answer_u64(struct ftr_answer *answer)
{
	uint64_t value = 0;

	if (answer->end - answer->p < (ptrdiff_t)sizeof(value)) {
		answer->is_cut = true;
		return 0;
	}
	value = ftr_get_unsigned(answer->p, sizeof(value), false);
	answer->p += sizeof(value);
	return value;
}

double ftr_answer_double(struct ftr_answer *answer)
{
	uint64_t bits = ftr_answer_u64(answer);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint64_t ftr_answer_length(struct ftr_answer *answer)
{
	unsigned shift = 0;
	uint64_t len = 0;
	uint8_t byte;

	do {
		if (answer->p == answer->end || shift > 56) {
			answer->is_cut = true;
			return 0;
		}
		byte = *answer->p++;
		len |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return len;
}

struct ftr_slice ftr_answer_string(struct ftr_answer *answer)
{
	uint64_t len = ftr_answer_length(answer);
	struct ftr_slice string;

	if (len > (uint64_t)(answer->end - answer->p)) {
		answer->is_cut = true;
		return ftr_slice_make("", 0);
	}
	string = ftr_slice_make((const char *)answer->p, (size_t)len);
	answer->p += len;
	return string;
}
