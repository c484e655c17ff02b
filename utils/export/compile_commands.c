/* SPDX-License-Identifier: MIT */
/* Compilation databases: an array of objects, one a translation. */
#include "utils/export/compile_commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/analysis/build.h"
#include "utils/base/ostream.h"

static void put_member(struct ftr_ostream *out, const char *name, const char *value,
		       const char *before)
{
	ftr_ostream_printf(out, "%s\n    \"%s\": ", before, name);
	ftr_ostream_json_string(out, value, strlen(value));
}

static void put_translation(struct ftr_ostream *out, const struct ftr_build_translation *made)
{
	put_member(out, "directory", made->directory, "  {");
	put_member(out, "file", made->file, ",");
	ftr_ostream_puts(out, ",\n    \"arguments\": [");
	for (size_t i = 0; i < made->argc; i++) {
		ftr_ostream_puts(out, i > 0 ? ", " : "");
		ftr_ostream_json_string(out, made->argv[i], strlen(made->argv[i]));
	}
	ftr_ostream_puts(out, "]");
	if (made->output != NULL)
		put_member(out, "output", made->output, ",");
	ftr_ostream_puts(out, "\n  }");
}

/*
 * The path of a translation's source is not resolved, those of files are.  No process opened one
 * that did not exist: unless it has another name now, there was no translation.
 */
static bool is_of_gone(const struct ftr_build *build, const struct ftr_build_translation *made)
{
	const char *slash = strrchr(made->file, '/');
	char dir[PATH_MAX], real[PATH_MAX], path[2 * PATH_MAX];
	const struct ftr_build_file *file;

	file = ftr_build_find(build, made->file);
	snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - made->file), made->file);
	if (file == NULL && realpath(dir, real) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", strcmp(real, "/") == 0 ? "" : real,
			 slash + 1);
		file = ftr_build_find(build, path);
	}
	return file != NULL ? file->is_temporary : access(made->file, F_OK) != 0;
}

size_t ftr_compile_commands_write(const struct ftr_build *build, struct ftr_ostream *out)
{
	size_t nr = 0;

	ftr_ostream_puts(out, "[");
	for (size_t i = 0; i < build->translations.nr; i++) {
		if (is_of_gone(build, &build->translations.v[i]))
			continue;
		ftr_ostream_puts(out, nr++ > 0 ? ",\n" : "\n");
		put_translation(out, &build->translations.v[i]);
	}
	ftr_ostream_puts(out, "\n]\n");
	return nr;
}
