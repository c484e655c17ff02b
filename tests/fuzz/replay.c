/* SPDX-License-Identifier: MIT */
/*
 * Run a fuzz target without a fuzzer: over recorded directories as they are, with each file
 * missing, cut at every byte (of large files: at every few), and with flipped bits.
 *
 *	replay DIR...			the test
 *	replay --pack CORPUS DIR...	write the directories as libFuzzer's seeds
 *	replay --input FILE...		packed inputs (what a fuzzer found)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/strbuf.h"
#include "utils/format/dir.h"

#define CUTS_MAX 600	/* of one file */
#define FLIPS 400
#define FILES_MAX 32

struct file {
	const char *name;
	const uint8_t *data;
	size_t size;
};

static struct ftr_strbuf packed;
static unsigned long runs;

static void pack_file(const struct file *file)
{
	uint32_t size = (uint32_t)file->size;
	unsigned char head[4] = { size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff, size >> 24 };

	ftr_strbuf_putc(&packed, (char)strlen(file->name));
	ftr_strbuf_puts(&packed, file->name);
	ftr_strbuf_put(&packed, head, sizeof(head));
	if (file->size > 0)
		ftr_strbuf_put(&packed, file->data, file->size);
}

/* All files but @skip; of @cut only the first @size bytes. */
static void pack(const struct file *files, size_t nr, size_t skip, size_t cut, size_t size)
{
	ftr_strbuf_clear(&packed);
	for (size_t i = 0; i < nr; i++) {
		struct file file = files[i];

		if (i == cut)
			file.size = size;
		if (i != skip)
			pack_file(&file);
	}
	if (packed.failed)
		abort();
}

static void run(void)
{
	/*
	 * Memory of its own and of the exact size, so that AddressSanitizer sees a step beyond it.
	 */
	uint8_t *copy = malloc(packed.len == 0 ? 1 : packed.len);

	if (copy == NULL)
		abort();
	memcpy(copy, packed.s, packed.len);
	LLVMFuzzerTestOneInput(copy, packed.len);
	free(copy);
	runs++;
}

static void run_cuts(const struct file *files, size_t nr, size_t which)
{
	size_t step = files[which].size / CUTS_MAX + 1;

	for (size_t size = 0; size < files[which].size; size += step) {
		pack(files, nr, SIZE_MAX, which, size);
		run();
	}
}

static void run_flips(const struct file *files, size_t nr, size_t which)
{
	uint64_t random = files[which].size;

	for (int i = 0; i < FLIPS && files[which].size > 0; i++) {
		struct file mine[FILES_MAX];
		uint8_t *bent = malloc(files[which].size);

		if (bent == NULL)
			abort();
		memcpy(bent, files[which].data, files[which].size);
		for (int j = 0; j <= i % 3; j++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bent[(random >> 33) % files[which].size] ^= (uint8_t)(1u << (random >> 29 &
										     7));
		}
		memcpy(mine, files, nr * sizeof(*mine));
		mine[which].data = bent;
		pack(mine, nr, SIZE_MAX, SIZE_MAX, 0);
		run();
		free(bent);
	}
}

static void run_all(const struct file *files, size_t nr)
{
	pack(files, nr, SIZE_MAX, SIZE_MAX, 0);
	run();
	for (size_t i = 0; i < nr; i++) {
		pack(files, nr, i, SIZE_MAX, 0);
		run();
		run_cuts(files, nr, i);
		run_flips(files, nr, i);
	}
}

static int write_seed(const char *corpus, const char *path, const struct file *files, size_t nr)
{
	size_t end = strlen(path);
	size_t start;
	char name[4096];
	FILE *out;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	pack(files, nr, SIZE_MAX, SIZE_MAX, 0);
	snprintf(name, sizeof(name), "%s/%.*s", corpus, (int)(end - start), path + start);
	out = fopen(name, "wb");
	if (out == NULL || fwrite(packed.s, packed.len, 1, out) != 1 || fclose(out) != 0) {
		perror(name);
		return 1;
	}
	return 0;
}

static int use_directory(const char *path, const char *corpus)
{
	struct ftr_istream streams[FILES_MAX];
	struct file files[FILES_MAX] = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_dir *dir;
	size_t nr = 0;
	int ret = 0;

	if (ftr_dir_open(&dir, path, &err) < 0) {
		fprintf(stderr, "replay: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < dir->names.nr && nr < FILES_MAX; i++) {
		if (ftr_dir_file(dir, dir->names.v[i], &streams[nr], &err) < 0)
			continue;
		files[nr] = (struct file){ dir->names.v[i], streams[nr].data, streams[nr].size };
		nr++;
	}
	if (corpus != NULL)
		ret = write_seed(corpus, path, files, nr);
	else
		run_all(files, nr);
	while (nr > 0)
		ftr_istream_close(&streams[--nr]);
	ftr_dir_free(dir);
	return ret;
}

static int use_input(const char *path)
{
	struct ftr_err err = { 0 };
	struct ftr_istream in;

	if (ftr_istream_open(&in, AT_FDCWD, path, &err) < 0) {
		fprintf(stderr, "replay: %s\n", err.text);
		return 1;
	}
	LLVMFuzzerTestOneInput(in.data, in.size);
	ftr_istream_close(&in);
	runs++;
	return 0;
}

int main(int argc, char **argv)
{
	bool is_input = argc > 1 && strcmp(argv[1], "--input") == 0;
	bool is_pack = argc > 2 && strcmp(argv[1], "--pack") == 0;
	int first = is_pack ? 3 : is_input ? 2 : 1;
	int ret = first >= argc;

	fuzz_limit_memory();
	ftr_strbuf_init(&packed);
	for (int i = first; i < argc; i++)
		ret |= is_input ? use_input(argv[i]) :
				  use_directory(argv[i], is_pack ? argv[2] : NULL);
	ftr_strbuf_fini(&packed);
	printf("%lu inputs\n", runs);
	return ret;
}
