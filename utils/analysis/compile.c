/* SPDX-License-Identifier: MIT */
/* Which command lines are translations. */
#include "utils/analysis/compile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/istream.h"
#include "utils/base/strbuf.h"

#define RESPONSE_DEPTH_MAX 8

static const char *const compilers[] = { "gcc", "g++",  "cc",       "c++",  "clang", "clang++",
					 "icc", "icpc", "icx",      "icpx", "tcc",   "c89",
					 "c99", "nvcc", "gfortran", NULL };

/* They run the compiler that their first operand names. */
static const char *const wrappers[] = { "ccache", "distcc", "sccache", "icecc", "colorgcc", NULL };

static const char *const source_suffixes[] = { ".c",   ".cc",  ".cp",  ".cxx", ".cpp", ".c++",
					       ".C",   ".CC",  ".CPP", ".CXX", ".i",   ".ii",
					       ".m",   ".mi",  ".mm",  ".mii", ".M",   ".s",
					       ".S",   ".sx",  ".asm", ".cu",  ".f",   ".for",
					       ".f90", ".f95", ".f03", ".F",   ".F90", NULL };

/* Translated, they become precompiled headers. */
static const char *const header_suffixes[] = { ".h",   ".H",   ".hh",  ".hp", ".hxx",
					       ".hpp", ".HPP", ".h++", ".tcc", NULL };

/* Options whose argument is the next word. */
static const char *const with_argument[] = { "-o",
					     "-I",
					     "-D",
					     "-U",
					     "-include",
					     "--include",
					     "-include-pch",
					     "-imacros",
					     "-isystem",
					     "-iquote",
					     "-idirafter",
					     "-iprefix",
					     "-iwithprefix",
					     "-iwithprefixbefore",
					     "-isysroot",
					     "-imultilib",
					     "-MF",
					     "-MT",
					     "-MQ",
					     "-x",
					     "-L",
					     "-l",
					     "-Xlinker",
					     "-Xassembler",
					     "-Xpreprocessor",
					     "-Xclang",
					     "-T",
					     "-u",
					     "-z",
					     "-target",
					     "--sysroot",
					     "-arch",
					     "--param",
					     "-aux-info",
					     "-A",
					     "-B",
					     "-e",
					     "-wrapper",
					     "-G",
					     "-h",
					     "-R",
					     "-mllvm",
					     "-dumpbase",
					     "-dumpbase-ext",
					     "-dumpdir",
					     "-framework",
					     "-Xarch_host",
					     NULL };

/* With one of these nothing is translated. */
static const char *const no_translation[] = { "-E",
					      "-M",
					      "-MM",
					      "-cc1",
					      "-cc1as",
					      "-###",
					      "--version",
					      "-dumpversion",
					      "-dumpfullversion",
					      "-dumpmachine",
					      "-dumpspecs",
					      "--help",
					      NULL };

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list != NULL; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* "gcc", "gcc-12", "x86_64-linux-gnu-gcc-12.2": the part that names the compiler. */
static bool is_compiler(const char *path)
{
	char name[128];
	const char *word;
	size_t len = strlen(base_name(path));

	if (len >= sizeof(name))
		return false;
	memcpy(name, base_name(path), len + 1);
	while (len > 0 && (isdigit((unsigned char)name[len - 1]) || name[len - 1] == '.'))
		len--;
	if (len > 0 && name[len - 1] == '-')
		name[len - 1] = '\0';
	word = strrchr(name, '-');
	return is_one_of(word != NULL ? word + 1 : name, compilers);
}

static bool has_suffix(const char *word, const char *const *suffixes)
{
	const char *dot = strrchr(base_name(word), '.');

	return dot != NULL && is_one_of(dot, suffixes);
}

/* @language: of the -x before it (nullable); files of any name are then sources. */
static bool is_source(const char *word, const char *language)
{
	return word[0] != '-' && (language != NULL || has_suffix(word, source_suffixes) ||
				  has_suffix(word, header_suffixes));
}

/* "-x LANGUAGE", "-xLANGUAGE"; *@language stays what it is when @word is neither. */
static void language_set(const char **language, const char *word, const char *next)
{
	if (strncmp(word, "-x", 2) != 0)
		return;
	*language = word[2] != '\0' ? word + 2 : next;
	if (*language != NULL && strcmp(*language, "none") == 0)
		*language = NULL;
}

static bool is_header_language(const char *language)
{
	return language != NULL && strstr(language, "-header") != NULL;
}

static bool push(struct ftr_compile *compile, const char *word)
{
	return word != NULL && ftr_vec_push(&compile->argv, word) == 0;
}

/* The next word of a response file, unquoted; NULL at its end. */
static char *response_word(const char **pos, const char *end, struct ftr_arena *arena)
{
	struct ftr_strbuf word;
	const char *s = *pos;
	char quote = '\0', *copy;

	while (s < end && isspace((unsigned char)*s))
		s++;
	if (s == end)
		return NULL;
	ftr_strbuf_init(&word);
	for (; s < end && (quote != '\0' || !isspace((unsigned char)*s)); s++) {
		if (quote != '\0' && *s == quote)
			quote = '\0';
		else if (quote == '\0' && (*s == '"' || *s == '\''))
			quote = *s;
		else if (*s == '\\' && s + 1 < end)
			ftr_strbuf_putc(&word, *++s);
		else
			ftr_strbuf_putc(&word, *s);
	}
	*pos = s;
	copy = ftr_arena_strndup(arena, ftr_strbuf_str(&word), word.len);
	ftr_strbuf_fini(&word);
	return copy;
}

static bool add_word(struct ftr_compile *compile, const char *word, const char *directory,
		     struct ftr_arena *arena, int depth);

/* A file that cannot be read any more stays as the word it is. */
static bool add_response(struct ftr_compile *compile, const char *word, const char *directory,
			 struct ftr_arena *arena, int depth)
{
	struct ftr_istream in;
	struct ftr_strbuf path;
	const char *pos;
	char *item;
	bool is_done = true;

	ftr_strbuf_init(&path);
	if (word[1] != '/')
		ftr_strbuf_printf(&path, "%s/", directory);
	ftr_strbuf_puts(&path, word + 1);
	if (ftr_istream_open_file(&in, AT_FDCWD, ftr_strbuf_str(&path), NULL) < 0) {
		ftr_strbuf_fini(&path);
		return push(compile, word);
	}
	ftr_strbuf_fini(&path);
	pos = (const char *)in.data;
	while (is_done && in.size > 0 &&
	       (item = response_word(&pos, (const char *)in.data + in.size, arena)) != NULL)
		is_done = add_word(compile, item, directory, arena, depth + 1);
	ftr_istream_close(&in);
	return is_done;
}

static bool add_word(struct ftr_compile *compile, const char *word, const char *directory,
		     struct ftr_arena *arena, int depth)
{
	if (word[0] == '@' && word[1] != '\0' && depth < RESPONSE_DEPTH_MAX)
		return add_response(compile, word, directory, arena, depth);
	return push(compile, word);
}

static bool scan(struct ftr_compile *compile)
{
	const char *language = NULL;

	for (size_t i = 1; i < compile->argv.nr; i++) {
		const char *word = compile->argv.v[i];

		if (is_one_of(word, no_translation) || strncmp(word, "-print-", 7) == 0)
			return false;
		if (strcmp(word, "-c") == 0 || strcmp(word, "-S") == 0)
			compile->has_one_step = true;
		language_set(&language, word,
			     i + 1 < compile->argv.nr ? compile->argv.v[i + 1] : NULL);
		compile->makes_headers |= is_header_language(language);
		if (strcmp(word, "-o") == 0 && i + 1 < compile->argv.nr)
			compile->output = i + 1;
		if (is_one_of(word, with_argument))
			i++;
		else if (is_source(word, language) && ftr_vec_push(&compile->sources, i) < 0)
			return false;
	}
	return compile->sources.nr > 0;
}

/* How many words to leave out at the beginning: wrappers, and what belongs to them. */
static size_t wrapper_words(const struct ftr_slice *argv, size_t argc, struct ftr_arena *arena)
{
	size_t i = 0;

	while (i < argc) {
		const char *word = ftr_arena_strndup(arena, argv[i].s, argv[i].len);

		if (word == NULL || !is_one_of(base_name(word), wrappers))
			return i;
		i++;
		while (i < argc && argv[i].len > 0 && argv[i].s[0] == '-')
			i++;
	}
	return i;
}

bool ftr_compile_parse(struct ftr_compile *compile, const struct ftr_slice *argv, size_t argc,
		       const char *directory, struct ftr_arena *arena)
{
	size_t first = wrapper_words(argv, argc, arena);

	*compile = (struct ftr_compile){ 0 };
	for (size_t i = first; i < argc; i++) {
		const char *word = ftr_arena_strndup(arena, argv[i].s, argv[i].len);

		if (word == NULL || (i == first && !is_compiler(word)) ||
		    !add_word(compile, word, directory, arena, 0)) {
			ftr_compile_fini(compile);
			return false;
		}
	}
	if (scan(compile))
		return true;
	ftr_compile_fini(compile);
	return false;
}

void ftr_compile_fini(struct ftr_compile *compile)
{
	ftr_vec_fini(&compile->argv);
	ftr_vec_fini(&compile->sources);
}

bool ftr_compile_is_other_source(const struct ftr_compile *compile, size_t index, size_t source)
{
	for (size_t i = 0; i < compile->sources.nr; i++) {
		if (compile->sources.v[i] == index)
			return index != source;
	}
	return false;
}

bool ftr_compile_is_header(const struct ftr_compile *compile, size_t source)
{
	return compile->makes_headers || has_suffix(compile->argv.v[source], header_suffixes);
}
