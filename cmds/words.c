/* SPDX-License-Identifier: MIT */
/* Which word of a command line is the command: options may stand before it. */
#include "cmds/words.h"

#include "cmds/cmd.h"
#include "utils/cli/uftrace_options.h"
#include "utils/base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Any command's option, by name (of @len letters) or, with @name NULL, by letter. */
static bool takes_arg(const char *name, size_t len, char letter)
{
	const struct ftr_uftrace_option *known;
	const struct ftr_cmd *cmd;
	size_t pos = 0;

	while ((cmd = ftr_cmd_next(&pos)) != NULL) {
		struct ftr_option_iter iter = { 0 };
		const struct ftr_option *opt;

		while ((opt = ftr_option_next(&iter, cmd->options)) != NULL)
			if (name == NULL ? opt->letter == letter
					 : strncmp(opt->name, name, len) == 0 &&
						   opt->name[len] == '\0')
				return ftr_option_requires_arg(opt);
	}
	pos = 0;
	while ((known = ftr_uftrace_option_next(&pos)) != NULL)
		if (name == NULL ? known->letter == letter
				 : strncmp(known->name, name, len) == 0)
			return known->takes_arg;
	return false;
}

/* How many words the option at @words[0] covers. */
static int option_words(char **words)
{
	const char *word = words[0];

	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");

		return word[2 + len] != '=' && takes_arg(word + 2, len, 0) ? 2 : 1;
	}
	for (word++; *word != '\0'; word++)
		if (takes_arg(NULL, 0, *word))
			return word[1] == '\0' ? 2 : 1;
	return 1;
}

static int asked_for(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--usage") == 0)
		return FTR_WORDS_HELP;
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return FTR_WORDS_VERSION;
	return 0;
}

int ftr_words_find_operand(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0') {
		if (asked_for(argv[i]) != 0)
			return asked_for(argv[i]);
		if (strcmp(argv[i], "--") == 0)
			return i + 1 < argc ? i + 1 : argc;
		i += option_words(&argv[i]);
	}
	return i < argc ? i : argc;
}

bool ftr_words_is_program(const char *word)
{
	const char *path = getenv("PATH");
	char file[4096];

	if (strchr(word, '/') != NULL || access(word, F_OK) == 0)
		return true;
	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, word);
		if (access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}
