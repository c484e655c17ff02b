/* SPDX-License-Identifier: MIT */
/*
 * Of data directories alone: runs make the same sums as events, however they are cut, and so do
 * packed files.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/packed.h"
#include "tests/fuzz/runs.h"
#include "utils/base/bytes.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"
#include "utils/format/uftrace/summary.h"
#include "utils/format/uftrace/uftrace.h"
#include "utils/trace/trace.h"

#define PACKED_OF 8	/* inputs one is packed, too, which takes as long as all else */

static void sums(const uint8_t *data, size_t size, const struct runs_way *way,
		 const struct runs_what *what, struct ftr_strbuf *text)
{
	struct runs_what of_trace = *what;
	struct ftr_diag diag = { 0 };
	struct ftr_trace *trace = ftr_trace_new("fuzz", &diag);
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;

	check(trace != NULL);
	ftr_strbuf_init(text);
	check(ftr_dir_open_memory(&dir, data, size, &err) == 0);
	if (ftr_uftrace_read_dir(trace, dir, &err) == 0) {
		of_trace.is_tree = what->is_tree && trace->summary == NULL;
		runs_text(trace, way, &of_trace, text);
	} else {
		ftr_trace_free(trace);
	}
	ftr_strbuf_printf(text, "%u warnings\n", diag.nr);
}

/* As a block of a summary: the check that would refuse all of them is made to fit. */
static void check_block(const uint8_t *data, size_t size)
{
	static uint8_t bytes[4096];
	size_t len = size < sizeof(bytes) - 8 ? size : sizeof(bytes) - 8, pos = 0;
	struct ftr_summary_cursor cursor;
	struct ftr_summary_place place;
	struct ftr_summary_row row;
	uint64_t addr;

	if (len > 0)
		memcpy(bytes + 8, data + size - len, len);
	ftr_put_u32(bytes, (uint32_t)len, false);
	ftr_put_u32(bytes + 4, ftr_summary_check(bytes + 8, len), false);
	if (ftr_summary_block_get(bytes, 8 + len, &pos, &cursor) == 1)
		while (ftr_summary_get(&cursor, &place, &addr, &row))
			check(row.used != 0 && row.calls != 0);
	check(pos == 8 + len && cursor.p <= cursor.end);
}

/* Any change of an input changes it. */
static uint32_t sum_of(const uint8_t *data, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + data[i];
	return sum / 256;
}

/* One of the ways for each input: there are many of the same size. */
void fuzz_extra_uftrace(const uint8_t *data, size_t size)
{
	static const struct runs_way events = { 0, 0 };
	static const struct runs_way ways[] = { { 48, 1 }, { 1 << 16, 1 }, { 112, 1 } };
	uint32_t random = size == 0 ? 0 : data[size / 2] + (uint32_t)size;
	const struct runs_way *way = &ways[random % (sizeof(ways) / sizeof(ways[0]))];
	static const struct runs_what whats[] = {
		{ .is_tree = false }, { .is_tree = true }, { .threshold_ns = 2000 },
		{ .rules = "-F [a-f] -N [x-z]" },
		{ .is_tree = true, .rules = "-F [a-f] -T [m-o]@depth=2" },
		{ .threshold_ns = 100, .rules = "-H [a-f] -N [x-z]" },
		{ .is_tree = true, .threshold_ns = 2000 },
	};
	const struct runs_what *what = &whats[random / 4 % (sizeof(whats) / sizeof(whats[0]))];
	struct ftr_strbuf expected, got, packed;

	check_block(data, size);
	sums(data, size, &events, what, &expected);
	sums(data, size, way, what, &got);
	check(strcmp(ftr_strbuf_str(&expected), ftr_strbuf_str(&got)) == 0);
	ftr_strbuf_fini(&got);
	ftr_strbuf_init(&packed);
	if (sum_of(data, size) % PACKED_OF == 0 && fuzz_packed(data, size, random, &packed)) {
		sums((const uint8_t *)packed.s, packed.len, random % 2 == 0 ? &events : way,
		     what, &got);
		check(strcmp(ftr_strbuf_str(&expected), ftr_strbuf_str(&got)) == 0);
		ftr_strbuf_fini(&got);
	}
	ftr_strbuf_fini(&packed);
	ftr_strbuf_fini(&expected);
}
