/* SPDX-License-Identifier: MIT */
/*
 * Run a fuzz target without a fuzzer over files: as they are, cut, with changed bytes and missing
 * lines.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/istream.h"

#define CUTS_MAX 400
#define CHANGES 1500

static unsigned long runs;

/* Memory of the exact size, so that AddressSanitizer sees a step beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	runs++;
}

static void run_changed(const uint8_t *data, size_t size)
{
	static const char interesting[] = "|[]!,=\n09_A\\";
	uint8_t *changed = malloc(size);
	uint64_t random = size;

	if (changed == NULL)
		abort();
	for (int i = 0; i < CHANGES; i++) {
		memcpy(changed, data, size);
		for (int j = 0; j <= i % 4; j++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			changed[(random >> 33) % size] = i % 2 == 0 ? (uint8_t)(random >> 12) :
				(uint8_t)interesting[(random >> 20) % (sizeof(interesting) - 1)];
		}
		run(changed, size);
	}
	free(changed);
}

/* Each line left out once. */
static void run_without_lines(const uint8_t *data, size_t size)
{
	uint8_t *rest = malloc(size);

	if (rest == NULL)
		abort();
	for (size_t start = 0, end; start < size; start = end) {
		const uint8_t *newline = memchr(data + start, '\n', size - start);

		end = newline != NULL ? (size_t)(newline - data) + 1 : size;
		memcpy(rest, data, start);
		memcpy(rest + start, data + end, size - end);
		run(rest, size - (end - start));
	}
	free(rest);
}

static int use_file(const char *path)
{
	struct ftr_err err = { 0 };
	struct ftr_istream in;

	if (ftr_istream_open(&in, AT_FDCWD, path, &err) < 0) {
		fprintf(stderr, "replay: %s\n", err.text);
		return 1;
	}
	run(in.data, in.size);
	for (size_t size = 0; size < in.size; size += in.size / CUTS_MAX + 1)
		run(in.data, size);
	if (in.size > 0) {
		run_changed(in.data, in.size);
		run_without_lines(in.data, in.size);
	}
	ftr_istream_close(&in);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = argc < 2;

	fuzz_limit_memory();
	for (int i = 1; i < argc; i++)
		ret |= use_file(argv[i]);
	printf("%lu inputs\n", runs);
	return ret;
}
