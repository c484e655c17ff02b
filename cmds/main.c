/* SPDX-License-Identifier: MIT */
/* ftr COMMAND: find the command in commands.def and run it; without one it is live. */
#include "cmds/cmd.h"
#include "cmds/help.h"
#include "cmds/open.h"
#include "cmds/opt_file.h"
#include "cmds/message.h"
#include "cmds/progress.h"
#include "cmds/words.h"
#include "utils/base/closest.h"
#include "utils/cli/common.h"
#include "utils/cli/parse.h"
#include "utils/base/strbuf.h"
#include "utils/format/format.h"
#include "utils/script/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_COMMAND "live"
#define SCRIPT_OPTIONS "uftrace-option"

const char *ftr_cmd_data_dir(void)
{
	return strcmp(program_invocation_short_name, "uftrace") == 0 ? "uftrace.data" : "ftr.data";
}

/* The operand that is the trace that --data would name: its index, or -1. */
static int find_trace(const struct ftr_cmd *cmd, const struct ftr_common *common, int argc,
		      char **argv)
{
	int among = cmd->trace == FTR_CMD_TRACE_FOUND ? argc : argc > 0;

	if (common->data != NULL || cmd->trace == FTR_CMD_TRACE_NONE)
		return -1;
	for (int i = 0; i < among; i++)
		if (ftr_trace_is_at(argv[i]))
			return i;
	return -1;
}

static bool is_first_the_trace(const struct ftr_cmd *cmd, const struct ftr_common *common)
{
	return cmd->trace == FTR_CMD_TRACE_OPERAND && common->data == NULL;
}

static bool limits_operands(const struct ftr_cmd *cmd)
{
	return cmd->trace == FTR_CMD_TRACE_OPERAND || cmd->trace == FTR_CMD_TRACE_FOUND;
}

/* "ftr report prog": users of uftrace name the program, which is that of the data; or -1. */
static int find_program(const struct ftr_cmd *cmd, const struct ftr_common *common, int argc,
			char **argv)
{
	int own = is_first_the_trace(cmd, common) ? 0 : (int)cmd->operand_nr;

	if (!limits_operands(cmd) || argc <= own)
		return -1;
	for (int i = 0; i < argc; i++)
		if (ftr_data_is_of_program(common, argv[i]))
			return i;
	return -1;
}

/* The operand at @at moves out of the way of the others. */
static char *take_operand(int at, int *argc, char **argv)
{
	char *operand = argv[at];

	memmove(&argv[at], &argv[at + 1], (size_t)(*argc - at) * sizeof(*argv));
	--*argc;
	return operand;
}

/* "ftr replay ftr.data x.dat": a second trace, a file, is what the kernel did meanwhile. */
static bool is_merged(const struct ftr_cmd *cmd, const struct ftr_common *common, int argc,
		      char **argv)
{
	struct stat data, file;

	return limits_operands(cmd) && argc > (cmd->writes ? (int)cmd->operand_nr : 0) &&
	       stat(ftr_data_path(common), &data) == 0 && S_ISDIR(data.st_mode) &&
	       stat(argv[0], &file) == 0 && !S_ISDIR(file.st_mode) && ftr_trace_is_at(argv[0]);
}

static int run_operands(const struct ftr_cmd *cmd, struct ftr_common *common, int argc, char **argv)
{
	int trace = find_trace(cmd, common, argc, argv);
	int program = trace < 0 ? find_program(cmd, common, argc, argv) : -1;

	if (program >= 0)
		take_operand(program, &argc, argv);
	else if (trace < 0 && argc > 0 && is_first_the_trace(cmd, common))
		trace = 0;		/* opening it says what is wrong with it */
	if (trace >= 0)
		common->data = take_operand(trace, &argc, argv);
	if (is_merged(cmd, common, argc, argv))
		common->kernel = take_operand(0, &argc, argv);
	if (limits_operands(cmd) && argc > (int)cmd->operand_nr) {
		ftr_error("%s: unexpected operand %s; the trace is %s", cmd->name,
			      argv[cmd->operand_nr], ftr_data_path(common));
		return FTR_EXIT_USAGE;
	}
	if (cmd->trace != FTR_CMD_TRACE_NONE)
		ftr_data_report_default(common);
	return ftr_progress_status(cmd->run(common, argc, argv));
}

/* A command line, and the files of options that come before it. */
struct invocation {
	const struct ftr_cmd *cmd;
	void *values;			/* of the command, struct ftr_common first */
	int argc;
	char **argv;
	struct ftr_opt_file config, defaults, script, named;
	char *config_path;		/* (owned) */
};

static void values_reset(const struct invocation *inv)
{
	const struct ftr_cmd *cmd = inv->cmd;

	ftr_options_fini(cmd->options, inv->values);
	memset(inv->values, 0, cmd->values_bytes);
	if (cmd->defaults != NULL)
		memcpy(inv->values, cmd->defaults, cmd->values_bytes);
	ftr_options_init(cmd->options, inv->values);
}

/* The index of the first operand, or -errno. */
static int words_parse(const struct invocation *inv, int argc, char **argv,
		       struct ftr_options_outcome *outcome, struct ftr_err *err)
{
	return ftr_options_parse(inv->cmd->options, inv->values, argc, argv,
				 inv->cmd->stops_at_operand, outcome, err);
}

static void warn_unused(const struct invocation *inv, const struct ftr_options_outcome *outcome)
{
	for (unsigned i = 0; i < outcome->unused_nr; i++)
		ftr_warn("%s: --%s has no effect on this command", inv->cmd->name,
			 outcome->unused[i]);
}

static int file_parse(const struct invocation *inv, const struct ftr_opt_file *file,
		      struct ftr_err *err)
{
	struct ftr_options_outcome outcome;
	int first;

	if (file->argc < 2)
		return 0;
	first = words_parse(inv, file->argc, file->argv, &outcome, err);
	if (first < 0 && strncmp(err->text, file->argv[0], strlen(file->argv[0])) == 0)
		return first;			/* as of an option that is unknown */
	if (first < 0)
		return ftr_err_prefix(err, "%s", file->argv[0]);
	if (first < file->argc)
		return ftr_err_set(err, EINVAL, "%s: %s is not an option", file->argv[0],
				   file->argv[first]);
	return 0;
}

/*
 * What a recording wants its readers to do, too; damaged, or not for this command: as if it were
 * not there. False: there is none, and the values are as they were.
 */
static bool defaults_load(struct invocation *inv, int argc, char **operands)
{
	int trace = find_trace(inv->cmd, inv->values, argc, operands);
	const struct ftr_common *common = inv->values;
	struct ftr_err err = { 0 };
	char *path = NULL;
	bool is_there;

	if (inv->cmd->trace == FTR_CMD_TRACE_NONE ||
	    asprintf(&path, "%s/default.opts",
		     trace >= 0 ? operands[trace] : ftr_data_path(common)) < 0)
		return false;
	is_there = ftr_opt_file_load(&inv->defaults, path, &err) == 0;
	free(path);
	if (!is_there)
		return false;
	inv->defaults.argv[0] = "default.opts";
	values_reset(inv);
	if (file_parse(inv, &inv->defaults, &err) < 0)
		ftr_opt_file_fini(&inv->defaults);
	return true;
}

/* The command line once more, on top of the files. */
static int parse_again(struct invocation *inv, struct ftr_err *err)
{
	struct ftr_options_outcome outcome;
	struct ftr_err ignored;

	values_reset(inv);
	if (file_parse(inv, &inv->config, err) < 0)
		return -EINVAL;
	if (inv->defaults.argc > 0)
		file_parse(inv, &inv->defaults, &ignored);
	if (file_parse(inv, &inv->script, err) < 0 || file_parse(inv, &inv->named, err) < 0)
		return -EINVAL;
	return words_parse(inv, inv->argc, inv->argv, &outcome, err);
}

/* Where the user's own options stand; NULL: nowhere, as for uftrace's users. */
static char *config_path(void)
{
	const char *given = getenv("FTR_CONFIG"), *dir = getenv("XDG_CONFIG_HOME");
	char *path = NULL;

	if (given != NULL)
		return given[0] != '\0' ? strdup(given) : NULL;
	if (strcmp(program_invocation_short_name, "uftrace") == 0)
		return NULL;
	if (dir != NULL && dir[0] == '/')
		return asprintf(&path, "%s/ftr/config", dir) < 0 ? NULL : path;
	dir = getenv("HOME");
	return dir == NULL || asprintf(&path, "%s/.config/ftr/config", dir) < 0 ? NULL : path;
}

/* Options that hold for all uses of the command; that there are none is no failure. */
static int config_load(struct invocation *inv, struct ftr_err *err)
{
	int ret;

	inv->config_path = config_path();
	if (inv->config_path == NULL)
		return 0;
	ret = ftr_opt_file_load(&inv->config, inv->config_path, err);
	if (ret == -ENOENT || ret == -ENOTDIR || ret == -EACCES)	/* another user's home */
		return getenv("FTR_CONFIG") == NULL ? 0 : ret;
	return ret < 0 ? ret : ftr_opt_file_choose(&inv->config, inv->cmd->name, err);
}

/* What a script says of the recording that it is for; whether there is one is found out later. */
static int script_load(struct invocation *inv, struct ftr_err *err)
{
	const char *path = inv->cmd->script != NULL ? inv->cmd->script(inv->values) : NULL;
	struct ftr_strbuf text;
	int ret;

	if (path == NULL || access(path, R_OK) != 0)
		return 0;
	ftr_strbuf_init(&text);
	ret = ftr_script_comments(path, SCRIPT_OPTIONS, &text, err);
	if (ret == 0)
		ret = ftr_opt_file_parse(&inv->script, path, ftr_strbuf_str(&text), text.len, err);
	ftr_strbuf_fini(&text);
	return ret;
}

static int files_load(struct invocation *inv, int first, struct ftr_err *err)
{
	const struct ftr_common *common = inv->values;
	int ret = config_load(inv, err);

	if (ret == 0 && common->opt_file != NULL)
		ret = ftr_opt_file_load(&inv->named, common->opt_file, err);
	if (ret < 0)
		return ret;
	ret = script_load(inv, err);
	if (ret < 0)
		return ret;
	if (inv->config.argc > 1 || inv->script.argc > 1 || common->opt_file != NULL)
		first = parse_again(inv, err);
	if (first < 0)
		return first;
	if (!defaults_load(inv, inv->argc - first, inv->argv + first))
		return first;
	first = parse_again(inv, err);
	if (first < 0 || inv->cmd->takes_defaults == NULL || inv->cmd->takes_defaults(inv->values))
		return first;
	ftr_opt_file_fini(&inv->defaults);
	return parse_again(inv, err);
}

static int run_command(const struct ftr_cmd *cmd, int argc, char **argv);

static int run_parsed(struct invocation *inv)
{
	struct ftr_options_outcome outcome;
	struct ftr_err err = { 0 };
	const struct ftr_cmd *other;
	int first;

	first = words_parse(inv, inv->argc, inv->argv, &outcome, &err);
	if (first >= 0 && outcome.asked == FTR_OPTIONS_HELP)
		return ftr_help_print_command(inv->cmd);
	if (first >= 0 && outcome.asked == FTR_OPTIONS_VERSION)
		return ftr_version_print();
	other = first >= 0 && inv->cmd->instead != NULL ? inv->cmd->instead(inv->values) : NULL;
	if (other != NULL)
		return run_command(other, inv->argc, inv->argv);
	if (first >= 0)
		first = files_load(inv, first, &err);
	if (first >= 0 && ftr_message_init(inv->values, &err) < 0)
		first = -1;
	if (first < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_USAGE;
	}
	warn_unused(inv, &outcome);
	return run_operands(inv->cmd, inv->values, inv->argc - first, inv->argv + first);
}

static int run_command(const struct ftr_cmd *cmd, int argc, char **argv)
{
	struct invocation inv = {
		.cmd = cmd, .values = calloc(1, cmd->values_bytes), .argc = argc, .argv = argv,
	};
	int status;

	if (inv.values == NULL) {
		ftr_error("out of memory");
		return FTR_EXIT_FAILED;
	}
	values_reset(&inv);
	status = run_parsed(&inv);
	ftr_options_fini(cmd->options, inv.values);
	ftr_opt_file_fini(&inv.config);
	ftr_opt_file_fini(&inv.defaults);
	ftr_opt_file_fini(&inv.script);
	ftr_opt_file_fini(&inv.named);
	free(inv.config_path);
	free(inv.values);
	return status;
}

static int help(const char *word)
{
	const struct ftr_cmd *cmd = word != NULL ? ftr_cmd_find(word) : NULL;

	if (word == NULL)
		return ftr_help_print();
	if (cmd != NULL)
		return ftr_help_print_command(cmd);
	ftr_error("help: %s is not a command; ftr help lists them", word);
	return FTR_EXIT_USAGE;
}

static int refuse(const char *word)
{
	struct ftr_closest closest = { .distance = 0 };
	const struct ftr_cmd *cmd;
	size_t pos = 0;

	while ((cmd = ftr_cmd_next(&pos)) != NULL)
		ftr_closest_try(&closest, word, cmd->name);
	ftr_error("%s is neither a command nor a program%s", word,
		  ftr_closest_ask(&closest, "", "; see ftr --help"));
	return FTR_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct ftr_cmd *cmd;
	char *word;
	int at;

	at = ftr_words_find_operand(argc, argv);
	if (at < 0)
		return at == FTR_WORDS_VERSION ? ftr_version_print() : ftr_help_print();
	cmd = ftr_cmd_find(DEFAULT_COMMAND);
	if (at == argc && argc > 1 && cmd != NULL) {	/* its options are not as they should be */
		argv[0] = DEFAULT_COMMAND;
		return run_command(cmd, argc, argv);
	}
	if (at == argc) {
		ftr_error("no command given: ftr COMMAND, or ftr PROGRAM; see ftr --help");
		return FTR_EXIT_USAGE;
	}
	word = argv[at];
	cmd = ftr_cmd_find(word);
	if (cmd != NULL) {		/* ftr -d DIR replay: the command comes first */
		memmove(&argv[2], &argv[1], (size_t)(at - 1) * sizeof(*argv));
		argv[1] = word;
		return run_command(cmd, argc - 1, argv + 1);
	}
	if (strcmp(word, "help") == 0)
		return help(argv[at + 1]);
	cmd = ftr_cmd_find(DEFAULT_COMMAND);
	if (cmd == NULL || !ftr_words_is_program(word))
		return refuse(word);
	argv[0] = DEFAULT_COMMAND;
	return run_command(cmd, argc, argv);
}
