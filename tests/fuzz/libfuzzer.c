/* SPDX-License-Identifier: MIT */
/*
 * The same checks under libFuzzer; FUZZ_FORMAT names the format.  With clang:
 *
 *	./configure CC=clang CFLAGS="-g -O1 -fsanitize=fuzzer-no-link,address,undefined"
 *	make tests/fuzz/libfuzzer
 *	FUZZ_FORMAT=fxt tests/fuzz/libfuzzer -dict=tests/fuzz/fxt.dict tests/fuzz/corpus/fxt
 *
 * Seeds of a directory format are packed first, by driver.c: replay --pack uftrace DIR.
 */
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "utils/format/format.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ftr_format *format;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_FORMAT");

	format = name != NULL ? ftr_format_find(name) : NULL;
	if (format == NULL || !ftr_format_is_read(format)) {
		fprintf(stderr, "FUZZ_FORMAT must name a format that ftr reads\n");
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one(format, data, size);
	return 0;
}
