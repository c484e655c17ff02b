/* SPDX-License-Identifier: MIT */
/* See opt_file.h. */
#include "cmds/opt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/istream.h"
#include "utils/base/text.h"

/* The word at *@p, unquoted in place; NULL at the end. */
static char *word_next(char **p)
{
	char *in = *p, *out, *word, quote = '\0';

	in += strspn(in, " \t\r\n");
	while (*in == '#') {
		in += strcspn(in, "\n");
		in += strspn(in, " \t\r\n");
	}
	if (*in == '\0')
		return NULL;
	for (word = out = in; *in != '\0' && (quote != '\0' || strchr(" \t\r\n", *in) == NULL);
	     in++) {
		if (quote == '\0' && (*in == '"' || *in == '\''))
			quote = *in;
		else if (quote != '\0' && *in == quote)
			quote = '\0';
		else
			*out++ = *in;
	}
	*p = *in != '\0' ? in + 1 : in;
	*out = '\0';
	return word;
}

int ftr_opt_file_parse(struct ftr_opt_file *file, const char *name, const char *text, size_t len,
		       struct ftr_err *err)
{
	char *p, *word;

	*file = (struct ftr_opt_file){ 0 };
	file->text = strndup(text, len);
	file->argv = calloc(len / 2 + 3, sizeof(*file->argv));
	if (file->text == NULL || file->argv == NULL) {
		ftr_opt_file_fini(file);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	file->argv[file->argc++] = (char *)name;
	for (p = file->text; (word = word_next(&p)) != NULL; )
		file->argv[file->argc++] = word;
	return 0;
}

int ftr_opt_file_load(struct ftr_opt_file *file, const char *path, struct ftr_err *err)
{
	struct ftr_istream in;
	int ret;

	*file = (struct ftr_opt_file){ 0 };
	ret = ftr_istream_open(&in, AT_FDCWD, path, err);
	if (ret < 0)
		return ret;
	ret = ftr_opt_file_parse(file, path, (const char *)in.data, in.size, err);
	ftr_istream_close(&in);
	return ret;
}

static bool is_heading(const char *word)
{
	size_t len = strlen(word);

	return len > 2 && word[0] == '[' && word[len - 1] == ']';
}

static bool heading_names(const char *heading, const char *command)
{
	struct ftr_slice rest = ftr_slice_make(heading + 1, strlen(heading) - 2), word;

	while (ftr_slice_split(&rest, ',', &word)) {
		if (ftr_slice_eq(word, command) || ftr_slice_eq(word, "all"))
			return true;
	}
	return false;
}

int ftr_opt_file_choose(struct ftr_opt_file *file, const char *command, struct ftr_err *err)
{
	bool is_chosen = false, is_headed = false;
	int kept = 1;

	for (int i = 1; i < file->argc; i++) {
		if (is_heading(file->argv[i])) {
			is_headed = true;
			is_chosen = heading_names(file->argv[i], command);
		} else if (!is_headed) {
			return ftr_err_set(err, EINVAL, "%s: %s stands before the first command; "
					   "write [record] or [all] before it", file->argv[0],
					   file->argv[i]);
		} else if (is_chosen) {
			file->argv[kept++] = file->argv[i];
		}
	}
	file->argc = kept;
	file->argv[kept] = NULL;
	return 0;
}

void ftr_opt_file_fini(struct ftr_opt_file *file)
{
	free(file->text);
	free(file->argv);
	*file = (struct ftr_opt_file){ 0 };
}
