/* SPDX-License-Identifier: MIT */
/* Shell completion scripts, printed from the option tables. */
#include "utils/cli/completion.h"

#include "utils/base/option.h"

static void put_words(const struct ftr_option *opt, struct ftr_ostream *out)
{
	const char *word, *blank = "";
	size_t pos = 0;

	while ((word = ftr_option_next_word(opt, &pos)) != NULL) {
		ftr_ostream_printf(out, "%s%s", blank, word);
		blank = " ";
	}
}

static bool has_words(const struct ftr_option *opt)
{
	return opt->words != NULL || opt->next_word != NULL;
}

/* The options whose next word is their argument, as patterns of a shell's case: "-d|--data|...". */
static void put_takers(const struct ftr_completion_command *command, const char *between,
		       struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;
	const char *mark = "";

	while ((opt = ftr_option_next(&iter, command->options)) != NULL) {
		if (!ftr_option_requires_arg(opt))
			continue;
		ftr_ostream_printf(out, "%s--%s", mark, opt->name);
		mark = between;
		if (opt->letter != 0)
			ftr_ostream_printf(out, "%s-%c", mark, opt->letter);
	}
}

static void put_commands(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		ftr_ostream_printf(out, "%s ", c->name);
}

static void bash_options(const struct ftr_option *table, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	ftr_ostream_puts(out, "\t\toptions=\"");
	while ((opt = ftr_option_next(&iter, table)) != NULL)
		if (opt->help != NULL)
			ftr_ostream_printf(out, "--%s%s ", opt->name,
					   ftr_option_requires_arg(opt) ? "=" : "");
	ftr_ostream_puts(out, "--help --version\"\n");
}

static void bash_words(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	ftr_ostream_puts(out, "\t\tcase $prev in\n");
	while ((opt = ftr_option_next(&iter, command->options)) != NULL) {
		if (!has_words(opt))
			continue;
		ftr_ostream_printf(out, "\t\t--%s", opt->name);
		if (opt->letter != 0)
			ftr_ostream_printf(out, "|-%c", opt->letter);
		ftr_ostream_puts(out, ") words=\"");
		put_words(opt, out);
		ftr_ostream_puts(out, "\" ;;\n");
	}
	ftr_ostream_puts(out, "\t\t");
	put_takers(command, "|", out);
	ftr_ostream_puts(out, ") options= ;;\n\t\tesac\n");
}

/* Bash takes "--data=x" for three words. */
static void bash_command(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "\t%s)\n", command->name);
	bash_options(command->options, out);
	bash_words(command, out);
	if (command->runs_program) {
		ftr_ostream_puts(out, "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
				      "\t\t\tcase ${COMP_WORDS[i]} in\n"
				      "\t\t\t=) i=$((i + 1)) ;;\n\t\t\t");
		put_takers(command, "|", out);
		ftr_ostream_puts(out, ") [ \"${COMP_WORDS[i+1]}\" = \"=\" ] || i=$((i + 1)) ;;\n"
				      "\t\t\t-*) ;;\n"
				      "\t\t\t*) options= words=; break ;;\n"
				      "\t\t\tesac\n\t\tdone\n");
	}
	ftr_ostream_puts(out, "\t\t;;\n");
}

void ftr_completion_bash(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	ftr_ostream_puts(out,
			 "# bash completion of ftr; source it, or put it into bash_completion.d\n"
			 "_ftr()\n{\n"
			 "\tlocal cur prev options words i\n"
			 "\tcur=${COMP_WORDS[COMP_CWORD]}\n"
			 "\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
			 "\tif [ \"$cur\" = \"=\" ]; then cur=; fi\n"
			 "\tif [ \"$prev\" = \"=\" ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
			 "\tif [ \"$COMP_CWORD\" -eq 1 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
			 "\t\tmapfile -t COMPREPLY < <(compgen -W \"");
	put_commands(commands, out);
	ftr_ostream_puts(out, "help\" -- \"$cur\"; compgen -c -- \"$cur\"; "
			      "compgen -f -- \"$cur\")\n"
			      "\t\tcompopt -o filenames\n"
			      "\t\treturn\n\tfi\n"
			      "\tcase ${COMP_WORDS[1]} in\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		bash_command(c, out);
	ftr_ostream_puts(out, "\thelp) words=\"");
	put_commands(commands, out);
	ftr_ostream_puts(out, "\" ;;\n"
			      "\tesac\n"
			      "\tif [ -n \"$words\" ]; then\n"
			      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			      "\telif [ -n \"$options\" ] && [ \"${cur#-}\" != \"$cur\" ]; then\n"
			      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
			      "\t\tcase ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac\n"
			      "\telse\n"
			      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
			      "\t\tcompopt -o filenames\n"
			      "\tfi\n}\n"
			      "complete -F _ftr ftr\n");
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

/* One spelling of an option: "--data=" and "-d+" take an argument in the same word or the next. */
static void zsh_option(const struct ftr_option *opt, const char *dashes, const char *name,
		       const char *taker, struct ftr_ostream *out)
{
	ftr_ostream_printf(out, "\t\t\t'%s%s%s[", dashes, name,
			   ftr_option_requires_arg(opt) ? taker : "");
	zsh_text(opt->help, out);
	ftr_ostream_putc(out, ']');
	if (ftr_option_requires_arg(opt)) {
		ftr_ostream_putc(out, ':');
		zsh_text(opt->arg, out);
		ftr_ostream_putc(out, ':');
	}
	if (has_words(opt)) {
		ftr_ostream_putc(out, '(');
		put_words(opt, out);
		ftr_ostream_putc(out, ')');
	} else if (ftr_option_requires_arg(opt)) {
		ftr_ostream_puts(out, "_files");
	}
	ftr_ostream_puts(out, "' \\\n");
}

/* What follows a program's name is its own: no options of ours ("(-)"). */
static void zsh_command(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	ftr_ostream_printf(out, "\t%s)\n\t\t_arguments%s \\\n", command->name,
			   command->runs_program ? " -A '-*'" : "");
	while ((opt = ftr_option_next(&iter, command->options)) != NULL) {
		const char letter[] = { opt->letter, '\0' };

		if (opt->help == NULL)
			continue;
		zsh_option(opt, "--", opt->name, "=", out);
		if (opt->letter != 0)
			zsh_option(opt, "-", letter, "+", out);
	}
	ftr_ostream_puts(out, command->runs_program ?
				      "\t\t\t'1:program:_ftr_program' '*:file:_files' ;;\n" :
				      "\t\t\t'*:file:_files' ;;\n");
}

/* The array is not called "commands": that is zsh's own, of all programs. */
void ftr_completion_zsh(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, "#compdef ftr\n"
			      "_ftr_program()\n{\n\t_command_names -e\n\t_files\n}\n"
			      "_ftr()\n{\n"
			      "\tlocal -a ftr_commands\n\tftr_commands=(\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++) {
		ftr_ostream_printf(out, "\t\t'%s:", c->name);
		zsh_text(c->summary, out);
		ftr_ostream_puts(out, "'\n");
	}
	ftr_ostream_puts(out, "\t)\n"
			      "\tif (( CURRENT == 2 )); then\n"
			      "\t\t_describe command ftr_commands\n"
			      "\t\t_ftr_program\n"
			      "\t\treturn\n\tfi\n"
			      "\tlocal command=$words[2]\n"
			      "\tshift words\n\t(( CURRENT-- ))\n"
			      "\tcase $command in\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		zsh_command(c, out);
	ftr_ostream_puts(out, "\thelp) _describe command ftr_commands ;;\n"
			      "\t*) _files ;;\n\tesac\n}\n"
			      "if [ \"$funcstack[1]\" = _ftr ]; then _ftr \"$@\"; else compdef _ftr ftr; fi\n");
}

static void fish_text(const char *text, struct ftr_ostream *out)
{
	ftr_ostream_putc(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			ftr_ostream_putc(out, '\\');
		ftr_ostream_putc(out, *text);
	}
	ftr_ostream_putc(out, '\'');
}

static void fish_command(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	struct ftr_option_iter iter = { 0 };
	const struct ftr_option *opt;

	while ((opt = ftr_option_next(&iter, command->options)) != NULL) {
		if (opt->help == NULL)
			continue;
		ftr_ostream_printf(out, "complete -c ftr -n '__ftr_options %s' -l %s",
				   command->name, opt->name);
		if (opt->letter != 0)
			ftr_ostream_printf(out, " -s %c", opt->letter);
		if (has_words(opt)) {
			ftr_ostream_puts(out, " -x -a '");
			put_words(opt, out);
			ftr_ostream_putc(out, '\'');
		} else if (ftr_option_requires_arg(opt)) {
			ftr_ostream_puts(out, " -r");
		}
		ftr_ostream_puts(out, " -d ");
		fish_text(opt->help, out);
		ftr_ostream_putc(out, '\n');
	}
}

static void fish_takers(const struct ftr_completion_command *command, struct ftr_ostream *out)
{
	if (!command->runs_program)
		return;
	ftr_ostream_printf(out, "    if test $argv[1] = %s\n        set takers ", command->name);
	put_takers(command, " ", out);
	ftr_ostream_puts(out, "\n    end\n");
}

void ftr_completion_fish(const struct ftr_completion_command *commands, struct ftr_ostream *out)
{
	ftr_ostream_puts(out, "# fish completion of ftr\n"
			      "# Is this the command, and is no program named yet whose words follow?\n"
			      "function __ftr_options\n"
			      "    set -l words (commandline -opc)\n"
			      "    set -l takers\n"
			      "    set -l is_argument 0\n"
			      "    test (count $words) -ge 2; and test $words[2] = $argv[1]; or return 1\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		fish_takers(c, out);
	ftr_ostream_puts(out, "    test (count $takers) -gt 0; or return 0\n"
			      "    for word in $words[3..-1]\n"
			      "        if test $is_argument = 1\n"
			      "            set is_argument 0\n"
			      "        else if contains -- $word $takers\n"
			      "            set is_argument 1\n"
			      "        else if not string match -q -- '-*' $word\n"
			      "            return 1\n"
			      "        end\n"
			      "    end\n"
			      "end\n"
			      "set -l first 'test (count (commandline -opc)) -eq 1'\n"
			      "complete -c ftr -n $first -a '(__fish_complete_command)'\n");
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++) {
		ftr_ostream_printf(out, "complete -c ftr -n $first -a %s -d ", c->name);
		fish_text(c->summary, out);
		ftr_ostream_putc(out, '\n');
	}
	for (const struct ftr_completion_command *c = commands; c->name != NULL; c++)
		fish_command(c, out);
}
