/* SPDX-License-Identifier: MIT */
/* A trace of one task and one function, written as FXT, and its words. */
#ifndef FTR_TESTS_FXT_MADE_H
#define FTR_TESTS_FXT_MADE_H

#include <stdint.h>
#include <string.h>

#include "tests/unit/fxt_util.h"
#include "tests/unit/unit.h"

/*
 * Header words are put together from what is drawn above each use.  TEXT is up to eight characters
 * of a stream, first character in the lowest byte.
 */
#define TEXT(a, b, c, d, e, f, g, h)						\
	((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 |	\
	 (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)

struct made {
	struct ftr_trace *trace;
	struct ftr_task *task;
	const struct ftr_func *func;
	struct writing w;
};

static inline void made_begin(struct made *made)
{
	made->trace = ftr_trace_new("made", NULL);
	assert_non_null(made->trace);
	made->task = make_task(made->trace, 100, 100, "t");
	made->func = make_func(made->trace, "p", "f");
	writing_begin(&made->w, made->trace, "fxt");
}

static inline void made_end(struct made *made)
{
	writing_free(&made->w);
	ftr_trace_free(made->trace);
}

static inline void assert_words(const struct made *made, size_t skip, const uint64_t *expected,
				size_t nr)
{
	const char *buf = made->w.out.buf;

	for (size_t i = 0; i < nr && 8 * (skip + i) + 8 <= made->w.out.len; i++) {
		uint64_t word;

		memcpy(&word, buf + 8 * (skip + i), 8);
		if (word != expected[i])
			print_error("word %zu: %016llx, not %016llx\n", i, (unsigned long long)word,
				    (unsigned long long)expected[i]);
		assert_int_equal(word, expected[i]);
	}
	assert_int_equal(made->w.out.len, 8 * (skip + nr));
}

#define WORDS(expected) (expected), sizeof(expected) / sizeof((expected)[0])

#endif /* FTR_TESTS_FXT_MADE_H */
