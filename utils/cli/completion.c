/* SPDX-License-Identifier: MIT */
/* Shell completion scripts, printed from the option tables. */
#include "utils/cli/completion.h"

#include "utils/base/option.h"

static void bash_options(const struct ftr_option *table, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	ftr_ostream_puts(out, "\t\toptions=\"");
	while ((opt = ftr_option_next(&iter, table)) != NULL)
		if (opt->help != NULL)
			ftr_ostream_printf(out, "--%s%s ", opt->name, opt->arg ? "=" : "");
	ftr_ostream_puts(out, "--help --version\" ;;\n");
}

static void put_words(const struct ftr_option *opt, struct ftr_ostream *out)
{
	const char *word, *blank = "";
	size_t pos = 0;

	while ((word = ftr_option_next_word(opt, &pos)) != NULL) {
		ftr_ostream_printf(out, "%s%s", blank, word);
		blank = " ";
	}
}

static void bash_words(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	while ((opt = ftr_option_next(&iter, command->options)) != NULL) {
		if (opt->words == NULL && opt->next_word == NULL)
			continue;
		ftr_ostream_printf(out, "\t%s:--%s) words=\"", command->name, opt->name);
		put_words(opt, out);
		ftr_ostream_puts(out, "\" ;;\n");
	}
}

void ftr_completion_bash(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	ftr_ostream_puts(out,
			 "# bash completion of ftr; source it, or put it into bash_completion.d\n"
			 "_ftr()\n{\n"
			 "\tlocal cur prev command options words\n"
			 "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
			 "\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
			 "\tif [ \"$cur\" = \"=\" ]; then cur=; fi\n"
			 "\tif [ \"$prev\" = \"=\" ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
			 "\tcommand=${COMP_WORDS[1]}\n"
			 "\tif [ \"$COMP_CWORD\" -eq 1 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
			 "\t\tCOMPREPLY=( $(compgen -W \"");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		ftr_ostream_printf(out, "%s ", c->name);
	ftr_ostream_puts(out, "\" -- \"$cur\") $(compgen -c -- \"$cur\") )\n"
			      "\t\treturn\n\tfi\n"
			      "\tcase $command:$prev in\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		bash_words(c, out);
	ftr_ostream_puts(out, "\tesac\n"
			      "\tif [ -n \"$words\" ]; then\n"
			      "\t\tCOMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )\n"
			      "\t\treturn\n\tfi\n"
			      "\tcase $command in\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++) {
		ftr_ostream_printf(out, "\t%s)\n", c->name);
		bash_options(c->options, out);
	}
	ftr_ostream_puts(out, "\tesac\n"
			      "\tcase $cur in\n"
			      "\t-*) COMPREPLY=( $(compgen -W \"$options\" -- \"$cur\") )\n"
			      "\t\tcase $COMPREPLY in *=) compopt -o nospace ;; esac ;;\n"
			      "\t*) COMPREPLY=( $(compgen -f -- \"$cur\") ) ;;\n"
			      "\tesac\n}\n"
			      "complete -o default -F _ftr ftr\n");
}

/* Inside '...': a quote ends the string, adds one, and begins it again; brackets are zsh's. */
static void zsh_text(const char *text, struct ftr_ostream *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			ftr_ostream_puts(out, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':')
			ftr_ostream_printf(out, "\\%c", *text);
		else
			ftr_ostream_putc(out, *text);
	}
}

static void zsh_option(const struct ftr_option *opt, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "\t\t\t'--%s%s[", opt->name, opt->arg ? "=" : "");
	zsh_text(opt->help, out);
	ftr_ostream_putc(out, ']');
	if (opt->arg != NULL) {
		ftr_ostream_putc(out, ':');
		zsh_text(opt->arg, out);
		ftr_ostream_putc(out, ':');
	}
	if (opt->words != NULL || opt->next_word != NULL) {
		ftr_ostream_putc(out, '(');
		put_words(opt, out);
		ftr_ostream_putc(out, ')');
	} else if (opt->arg != NULL) {
		ftr_ostream_puts(out, "_files");
	}
	ftr_ostream_puts(out, "' \\\n");
}

static void zsh_command(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	ftr_ostream_printf(out, "\t%s)\n\t\t_arguments \\\n", command->name);
	while ((opt = ftr_option_next(&iter, command->options)) != NULL)
		if (opt->help != NULL)
			zsh_option(opt, out);
	ftr_ostream_puts(out, "\t\t\t'*:file:_files' ;;\n");
}

void ftr_completion_zsh(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, "#compdef ftr\n"
			      "_ftr()\n{\n"
			      "\tlocal -a commands\n\tcommands=(\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++) {
		ftr_ostream_printf(out, "\t\t'%s:", c->name);
		zsh_text(c->summary, out);
		ftr_ostream_puts(out, "'\n");
	}
	ftr_ostream_puts(out, "\t)\n"
			      "\tif (( CURRENT == 2 )); then\n"
			      "\t\t_describe command commands\n"
			      "\t\t_command_names -e\n"
			      "\t\treturn\n\tfi\n"
			      "\tlocal command=$words[2]\n"
			      "\tshift words\n\t(( CURRENT-- ))\n"
			      "\tcase $command in\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		zsh_command(c, out);
	ftr_ostream_puts(out, "\t*) _files ;;\n\tesac\n}\n_ftr \"$@\"\n");
}
