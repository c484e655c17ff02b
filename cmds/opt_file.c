/* SPDX-License-Identifier: MIT */
/* See opt_file.h. */
#include "cmds/opt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/istream.h"

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

int ftr_opt_file_load(struct ftr_opt_file *file, const char *path, struct ftr_err *err)
{
	struct ftr_istream in;
	char *p, *word;
	int ret;

	*file = (struct ftr_opt_file){ 0 };
	ret = ftr_istream_open(&in, AT_FDCWD, path, err);
	if (ret < 0)
		return ret;
	file->text = strndup((const char *)in.data, in.size);
	file->argv = calloc(in.size / 2 + 3, sizeof(*file->argv));
	ftr_istream_close(&in);
	if (file->text == NULL || file->argv == NULL) {
		ftr_opt_file_fini(file);
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	}
	file->argv[file->argc++] = (char *)path;
	for (p = file->text; (word = word_next(&p)) != NULL; )
		file->argv[file->argc++] = word;
	return 0;
}

void ftr_opt_file_fini(struct ftr_opt_file *file)
{
	free(file->text);
	free(file->argv);
	*file = (struct ftr_opt_file){ 0 };
}
