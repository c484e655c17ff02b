/* SPDX-License-Identifier: MIT */
/* See opt_file.h. */
#include "cmds/opt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "utils/base/closest.h"
#include "utils/base/istream.h"
#include "utils/base/text.h"

/* The word at *@p, unquoted in place; NULL at the end.  *open becomes the quote that has no end. */
static char *word_next(char **p, char *open)
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
	*open = quote;
	return word;
}

int ftr_opt_file_parse(struct ftr_opt_file *file, const char *name, const char *text, size_t len,
		       struct ftr_err *err)
{
	char *p, *word, open = '\0';

	*file = (struct ftr_opt_file){ 0 };
	file->text = strndup(text, len);
	file->argv = calloc(len / 2 + 3, sizeof(*file->argv));
	if (file->text == NULL || file->argv == NULL) {
		ftr_opt_file_fini(file);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	file->argv[file->argc++] = (char *)name;
	for (p = file->text; (word = word_next(&p, &open)) != NULL; )
		file->argv[file->argc++] = word;
	if (open == '\0')
		return 0;
	ftr_err_set(err, EINVAL, "%s: the quote before %.20s has no end", name,
		    file->argv[file->argc - 1]);
	ftr_opt_file_fini(file);
	return -EINVAL;
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

/* Are all of them commands? */
static int heading_check(const char *heading, const char *name, struct ftr_err *err)
{
	struct ftr_slice rest = ftr_slice_make(heading + 1, strlen(heading) - 2), slice;
	struct ftr_closest closest = { .distance = 0 };
	const struct ftr_cmd *cmd;
	size_t pos = 0;
	char word[24];

	while (ftr_slice_split(&rest, ',', &slice)) {
		snprintf(word, sizeof(word), "%.*s", (int)slice.len, slice.s);
		if (strcmp(word, "all") == 0 || ftr_cmd_find(word) != NULL)
			continue;
		while ((cmd = ftr_cmd_next(&pos)) != NULL)
			ftr_closest_try(&closest, word, cmd->name);
		return ftr_err_set(err, EINVAL, "%s: %s: no command \"%s\"%s", name, heading, word,
				   ftr_closest_ask(&closest, "", ""));
	}
	return 0;
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
	int kept = 1, ret;

	for (int i = 1; i < file->argc; i++) {
		if (is_heading(file->argv[i])) {
			ret = heading_check(file->argv[i], file->argv[0], err);
			if (ret < 0)
				return ret;
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
