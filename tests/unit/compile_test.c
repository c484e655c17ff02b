/* SPDX-License-Identifier: MIT */
/* Command lines of compilers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "utils/analysis/compile.h"

#define WORDS_MAX 16

static const struct {
	const char *line;	/* words, one blank between */
	const char *sources;	/* those found; "" = no translation */
	const char *output;	/* (nullable) */
} rows[] = {
	{ "gcc -c a.c -o a.o", "a.c", "a.o" },
	{ "/usr/bin/x86_64-linux-gnu-g++-12 -O2 -c -o x.o dir/x.cpp", "dir/x.cpp", "x.o" },
	{ "clang-14 a.c b.c -o prog", "a.c b.c", "prog" },
	{ "cc -I inc.c -D X=y.c -c z.c", "z.c", NULL },
	{ "ccache gcc -c a.c", "a.c", NULL },
	{ "gcc -MD -MF a.d -MT a.c -c a.c", "a.c", NULL },
	{ "gcc -S a.c", "a.c", NULL },
	{ "gcc -x c - -o a", "", NULL },
	{ "gcc -x c -c text -x none b.o -o a", "text", "a" },
	{ "gcc -xc++ -c text", "text", NULL },
	{ "gcc dir/a.h", "dir/a.h", NULL },
	{ "g++ -x c++-header all -o all.gch", "all", "all.gch" },
	{ "g++ -include all.h -include-pch all.pch -c x.cc", "x.cc", NULL },
	{ "gcc -E a.c", "", NULL },
	{ "gcc -M a.c", "", NULL },
	{ "gcc a.o b.o -o prog", "", NULL },
	{ "gcc -print-file-name=x.c a.c", "", NULL },
	{ "clang -cc1 -emit-obj a.c", "", NULL },
	{ "gcc-ar r a.a a.c", "", NULL },
	{ "c++filt a.c", "", NULL },
	{ "ld -o a a.c", "", NULL },
};

static size_t split(const char *line, struct ftr_slice *words)
{
	size_t nr = 0;

	while (*line != '\0' && nr < WORDS_MAX) {
		size_t len = strcspn(line, " ");

		words[nr++] = ftr_slice_make(line, len);
		line += len + (line[len] == ' ');
	}
	return nr;
}

static void lines_are_understood(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ftr_slice words[WORDS_MAX];
		size_t nr = split(rows[i].line, words);
		char found[200] = "";
		struct ftr_compile compile;
		struct ftr_arena arena;

		ftr_arena_init(&arena);
		if (ftr_compile_parse(&compile, words, nr, "/", &arena)) {
			for (size_t j = 0; j < compile.sources.nr; j++) {
				strcat(found, j > 0 ? " " : "");
				strcat(found, compile.argv.v[compile.sources.v[j]]);
			}
			if (rows[i].output != NULL)
				assert_string_equal(compile.argv.v[compile.output], rows[i].output);
			else
				assert_int_equal(compile.output, 0);
			ftr_compile_fini(&compile);
		}
		assert_string_equal(found, rows[i].sources);
		ftr_arena_fini(&arena);
	}
}

static void response_files_are_put_in(void **state)
{
	struct ftr_slice words[] = { { "gcc", 3 }, { "@", 1 }, { NULL, 0 } };
	char path[] = "/tmp/ftr-compile-test.XXXXXX", word[64];
	struct ftr_compile compile;
	struct ftr_arena arena;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	dprintf(fd, "-c 'a b.c'\n-D\\\"X\n");
	close(fd);
	snprintf(word, sizeof(word), "@%s", path);
	words[1] = ftr_slice_make(word, strlen(word));
	ftr_arena_init(&arena);
	assert_true(ftr_compile_parse(&compile, words, 2, "/", &arena));
	unlink(path);
	assert_int_equal(compile.argv.nr, 4);
	assert_string_equal(compile.argv.v[2], "a b.c");
	assert_string_equal(compile.argv.v[3], "-D\"X");
	assert_int_equal(compile.sources.nr, 1);
	ftr_compile_fini(&compile);
	ftr_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_understood),
		cmocka_unit_test(response_files_are_put_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
