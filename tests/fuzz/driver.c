/* SPDX-License-Identifier: MIT */
/*
 * Fuzzing without a fuzzer: the seeds of each format that is read (tests/fuzz/corpus/NAME), as they
 * are, each file missing, cut at every few bytes, with changed bytes, words of the format's
 * dictionary (tests/fuzz/NAME.dict) in wrong places, and lines left out.
 *
 *	replay				the test: every format of the table, a process a seed
 *	replay --format NAME [SEED...]	one format, with its corpus or with other seeds
 *	replay --input NAME FILE...	inputs as a fuzzer wrote them, unchanged
 *	replay --pack NAME DIR		the corpus of a directory format as seeds for libFuzzer
 *
 * FTR_TEST_FUZZ_SHARE=N: every Nth of the inputs that are made of a seed, and the seed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/istream.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/dir.h"
#include "utils/format/format.h"

#define CUTS_MAX 400	/* of one file */
#define CHANGES 800
#define LINES_MAX 400
#define FILES_MAX 32
#define WORD_MAX 64

struct file {
	const char *name;	/* "" of a format that is one file */
	const uint8_t *data;
	size_t size;
};

struct seed {
	const struct ftr_format *format;
	struct file files[FILES_MAX];
	size_t nr;
};

struct word {
	uint8_t bytes[WORD_MAX];
	size_t len;
};

struct run {
	const struct ftr_format *format;
	FTR_VEC(struct word) words;	/* of the dictionary */
	struct ftr_strbuf packed;
	uint64_t random;
	unsigned long inputs, seeds;
	unsigned long made, share;	/* inputs, of which every so manieth runs */
};

static const char *source_dir(void)
{
	const char *dir = getenv("srcdir");

	return dir != NULL ? dir : ".";
}

/* Inputs. */

static void pack_file(struct ftr_strbuf *packed, const struct file *file)
{
	uint32_t size = (uint32_t)file->size;
	unsigned char head[4] = { size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff, size >> 24 };

	ftr_strbuf_putc(packed, (char)strlen(file->name));
	ftr_strbuf_puts(packed, file->name);
	ftr_strbuf_put(packed, head, sizeof(head));
	if (file->size > 0)
		ftr_strbuf_put(packed, file->data, file->size);
}

static void pack(struct ftr_strbuf *packed, const struct seed *seed)
{
	ftr_strbuf_clear(packed);
	for (size_t i = 0; i < seed->nr; i++) {
		if (seed->format->kind == FTR_FORMAT_DIRECTORY)
			pack_file(packed, &seed->files[i]);
		else if (seed->files[i].size > 0)
			ftr_strbuf_put(packed, seed->files[i].data, seed->files[i].size);
	}
}

/* Memory of its own and of the exact size, so that AddressSanitizer sees a step beyond it. */
static void run_seed(struct run *run, const struct seed *seed)
{
	uint8_t *copy;

	if (run->made++ % run->share != 0)
		return;
	pack(&run->packed, seed);
	copy = malloc(run->packed.len == 0 ? 1 : run->packed.len);
	check(copy != NULL);
	memcpy(copy, ftr_strbuf_str(&run->packed), run->packed.len);
	fuzz_one(run->format, copy, run->packed.len);
	free(copy);
	run->inputs++;
}

static void run_with(struct run *run, const struct seed *seed, size_t which, const uint8_t *data,
		     size_t size)
{
	struct seed mine = *seed;

	mine.files[which].data = data;
	mine.files[which].size = size;
	run_seed(run, &mine);
}

/* What is done to a file of a seed. */

static void run_cuts(struct run *run, const struct seed *seed, size_t which)
{
	const struct file *file = &seed->files[which];

	for (size_t size = 0; size < file->size; size += file->size / CUTS_MAX + 1)
		run_with(run, seed, which, file->data, size);
}

static size_t random_below(struct run *run, size_t limit)
{
	run->random = run->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (size_t)(run->random >> 33) % limit;
}

static void change(struct run *run, uint8_t *data, size_t size)
{
	const struct word *word;
	size_t at = random_below(run, size), len;

	switch (random_below(run, run->words.nr > 0 ? 3 : 2)) {
	case 0:
		data[at] ^= (uint8_t)(1u << random_below(run, 8));
		break;
	case 1:
		data[at] = (uint8_t)random_below(run, 256);
		break;
	default:
		word = &run->words.v[random_below(run, run->words.nr)];
		len = word->len < size - at ? word->len : size - at;
		memcpy(data + at, word->bytes, len);
	}
}

static void run_changes(struct run *run, const struct seed *seed, size_t which)
{
	const struct file *file = &seed->files[which];
	uint8_t *changed = malloc(file->size + 1);

	check(changed != NULL);
	run->random = file->size;
	for (size_t i = 0; i < CHANGES && file->size > 0; i++) {
		memcpy(changed, file->data, file->size);
		for (size_t j = 0; j <= i % 4; j++)
			change(run, changed, file->size);
		run_with(run, seed, which, changed, file->size);
	}
	free(changed);
}

/* Up to LINES_MAX lines, each left out once. */
static void run_without_lines(struct run *run, const struct seed *seed, size_t which)
{
	const struct file *file = &seed->files[which];
	uint8_t *rest = malloc(file->size + 1);
	size_t nr = 0;

	check(rest != NULL);
	for (size_t start = 0, end; start < file->size && nr < LINES_MAX; start = end, nr++) {
		const uint8_t *newline = memchr(file->data + start, '\n', file->size - start);

		end = newline != NULL ? (size_t)(newline - file->data) + 1 : file->size;
		memcpy(rest, file->data, start);
		memcpy(rest + start, file->data + end, file->size - end);
		run_with(run, seed, which, rest, file->size - (end - start));
	}
	free(rest);
}

static void run_without(struct run *run, const struct seed *seed, size_t which)
{
	struct seed rest = *seed;

	rest.nr--;
	memmove(rest.files + which, rest.files + which + 1,
		(rest.nr - which) * sizeof(rest.files[0]));
	run_seed(run, &rest);
}

static void run_all(struct run *run, const struct seed *seed)
{
	run->made = 0;
	run_seed(run, seed);
	for (size_t i = 0; i < seed->nr; i++) {
		run_without(run, seed, i);
		run_cuts(run, seed, i);
		run_changes(run, seed, i);
		run_without_lines(run, seed, i);
	}
	run->seeds++;
}

/* Seeds. */

typedef void seed_fn(struct run *run, const struct seed *seed, const char *path, void *arg);

static void each_replayed(struct run *run, const struct seed *seed, const char *path, void *arg)
{
	run_all(run, seed);
}

static void use_file(struct run *run, const char *path, seed_fn *use, void *arg)
{
	struct seed seed = { .format = run->format, .nr = 1 };
	struct ftr_istream in;
	struct ftr_err err;

	check(ftr_istream_open(&in, AT_FDCWD, path, &err) == 0);
	seed.files[0] = (struct file){ "", in.data, in.size };
	use(run, &seed, path, arg);
	ftr_istream_close(&in);
}

/* What lies beside the traces is passed over. */
static void use_directory(struct run *run, const char *path, seed_fn *use, void *arg)
{
	struct seed seed = { .format = run->format };
	struct ftr_istream streams[FILES_MAX];
	struct ftr_err err;
	struct ftr_dir *dir;

	if (!run->format->detect(path, NULL, 0) || ftr_dir_open(&dir, path, &err) < 0)
		return;
	for (size_t i = 0; i < dir->names.nr && seed.nr < FILES_MAX; i++) {
		struct ftr_istream *in = &streams[seed.nr];

		if (ftr_dir_file(dir, dir->names.v[i], in, &err) == 0)
			seed.files[seed.nr++] = (struct file){ dir->names.v[i], in->data,
							       in->size };
	}
	use(run, &seed, path, arg);
	while (seed.nr > 0)
		ftr_istream_close(&streams[--seed.nr]);
	ftr_dir_free(dir);
}

static void use_path(struct run *run, const char *path, seed_fn *use, void *arg)
{
	if (run->format->kind == FTR_FORMAT_DIRECTORY)
		use_directory(run, path, use, arg);
	else
		use_file(run, path, use, arg);
}

/* False: there is none. */
static bool each_of_corpus(struct run *run, seed_fn *use, void *arg)
{
	char top[4096], path[8192];
	struct dirent **names;
	int nr;

	snprintf(top, sizeof(top), "%s/tests/fuzz/corpus/%s", source_dir(), run->format->name);
	nr = scandir(top, &names, NULL, alphasort);
	for (int i = 0; i < nr; i++) {
		if (names[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", top, names[i]->d_name);
			use_path(run, path, use, arg);
		}
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return nr >= 0;
}

/* The dictionary, in libFuzzer's form: NAME="TEXT", with \xNN, \\ and \". */

static bool word_parse(const char *text, struct word *word)
{
	const char *p = strchr(text, '"');

	word->len = 0;
	if (text[0] == '#' || p == NULL)
		return false;
	for (p++; *p != '"' && *p != '\0' && word->len < WORD_MAX; p++) {
		unsigned byte = (unsigned char)*p;
		int digits = 0;

		if (*p == '\\' && sscanf(p, "\\x%2x%n", &byte, &digits) == 1)
			p += digits - 1;
		else if (*p == '\\')
			byte = (unsigned char)*++p;
		word->bytes[word->len++] = (uint8_t)byte;
	}
	return word->len > 0;
}

static void dictionary_load(struct run *run)
{
	char path[4096], line[1024];
	struct word word;
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fuzz/%s.dict", source_dir(), run->format->name);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		if (word_parse(line, &word))
			check(ftr_vec_push(&run->words, word) == 0);
	fclose(file);
}

/* Runs. */

static void run_init(struct run *run, const struct ftr_format *format)
{
	*run = (struct run){ .format = format, .share = fuzz_share() };
	ftr_strbuf_init(&run->packed);
	dictionary_load(run);
	fuzz_limit_memory();
}

static int run_fini(struct run *run, const char *seed)
{
	printf("%s%s%s: %lu inputs of %lu seeds, %zu words\n", run->format->name,
	       seed != NULL ? "/" : "", seed != NULL ? seed : "", run->inputs, run->seeds,
	       run->words.nr);
	ftr_strbuf_fini(&run->packed);
	ftr_vec_fini(&run->words);
	return run->inputs == 0;
}

static int replay_format(const struct ftr_format *format, char **seeds)
{
	struct run run;

	run_init(&run, format);
	if (*seeds == NULL && !each_of_corpus(&run, each_replayed, NULL))
		printf("%s: no tests/fuzz/corpus/%s: put a few small traces there\n",
		       format->name, format->name);
	for (; *seeds != NULL; seeds++)
		use_path(&run, *seeds, each_replayed, NULL);
	return run_fini(&run, NULL);
}

static int replay_inputs(const struct ftr_format *format, char **paths)
{
	struct ftr_istream in;
	struct ftr_err err;

	for (; *paths != NULL; paths++) {
		check(ftr_istream_open(&in, AT_FDCWD, *paths, &err) == 0);
		fuzz_one(format, in.data, in.size);
		ftr_istream_close(&in);
	}
	return 0;
}

static void each_packed(struct run *run, const struct seed *seed, const char *path, void *arg)
{
	char name[4096];
	FILE *out;

	pack(&run->packed, seed);
	snprintf(name, sizeof(name), "%s/%s", (const char *)arg, basename(path));
	out = fopen(name, "wb");
	check(out != NULL && fwrite(run->packed.s, run->packed.len, 1, out) == 1);
	check(fclose(out) == 0);
	run->inputs++;
}

static int pack_corpus(const struct ftr_format *format, char **dirs)
{
	struct run run;

	if (*dirs == NULL)
		return 2;
	run_init(&run, format);
	each_of_corpus(&run, each_packed, *dirs);
	return run_fini(&run, NULL);
}

struct of_seed {
	const struct ftr_format *format;
	const char *path;
};

static int replay_seed(const void *arg)
{
	const struct of_seed *of = arg;
	struct run run;

	run_init(&run, of->format);
	use_path(&run, of->path, each_replayed, NULL);
	return run_fini(&run, basename(of->path));
}

static void each_started(struct run *run, const struct seed *seed, const char *path, void *arg)
{
	struct of_seed of = { run->format, path };
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", run->format->name, basename(path));
	fuzz_start(name, replay_seed, &of);
	run->seeds++;
}

/* A format without seeds is a test that fails. */
static int report_none(const void *arg)
{
	const char *name = arg;

	printf("%s: no tests/fuzz/corpus/%s: put a few small traces there\n", name, name);
	return 1;
}

/* A process for each seed of each format. */
static int replay_table(void)
{
	const struct ftr_format *format;
	size_t pos = 0;

	while ((format = ftr_format_next(&pos)) != NULL) {
		struct run run = { .format = format };

		if (!ftr_format_is_read(format))
			continue;
		each_of_corpus(&run, each_started, NULL);
		if (run.seeds == 0)
			fuzz_start(format->name, report_none, format->name);
	}
	return fuzz_wait();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *option;
		int (*run)(const struct ftr_format *format, char **words);
	} rows[] = {
		{ "--format", replay_format },
		{ "--input", replay_inputs },
		{ "--pack", pack_corpus },
	};
	const struct ftr_format *format = argc > 2 ? ftr_format_find(argv[2]) : NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 1)
		return replay_table();
	for (size_t i = 0; format != NULL && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(argv[1], rows[i].option) == 0)
			return rows[i].run(format, argv + 3);
	fprintf(stderr, "usage: replay [--format NAME [SEED...] | --input NAME FILE... | "
		"--pack NAME DIR]\n");
	return 2;
}
