/* SPDX-License-Identifier: MIT */
/* ftr build: run a build, and say what it is made of. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/open.h"
#include "cmds/output.h"
#include "cmds/record.h"
#include "cmds/message.h"
#include "utils/analysis/build.h"
#include "utils/format/format.h"
#include "utils/trace/pump.h"

#define DATABASE "compile_commands.json"
#define PROCESS_DEPTH_MAX 200

struct build_values {
	struct ftr_common common;
	const char *output;		/* (nullable) */
	const char *etrace;		/* (nullable) */
	const char *inputs_of;		/* (nullable) */
	const char *outputs_of;		/* (nullable) */
	const char *unused;		/* (nullable) */
	bool lists_files;
	bool lists_processes;
};

static const struct ftr_option build_options[] = {
	FTR_OPTION_GROUP(ftr_common_options, struct build_values, common),
	FTR_OPTION("output", 'o', "FILE",
		   "Write the compilation database to FILE (default: " DATABASE ")", ftr_opt_string,
		   struct build_values, output),
	FTR_OPTION("etrace", 0, "FILE", "Look at the etrace text FILE instead of recorded data",
		   ftr_opt_string, struct build_values, etrace),
	FTR_OPTION("files", 0, NULL,
		   "List the files that were read (r), written (w), run (x), and who "
		   "made them",
		   ftr_opt_flag, struct build_values, lists_files),
	FTR_OPTION("inputs-of", 0, "FILE", "List what FILE was made from", ftr_opt_string,
		   struct build_values, inputs_of),
	FTR_OPTION("outputs-of", 0, "FILE", "List what was made from FILE", ftr_opt_string,
		   struct build_values, outputs_of),
	FTR_OPTION("processes", 0, NULL,
		   "Show the tree of processes: command, time, exit status, files", ftr_opt_flag,
		   struct build_values, lists_processes),
	FTR_OPTION("unused", 0, "DIR", "List the files below DIR that the build did not touch",
		   ftr_opt_string, struct build_values, unused),
	{ 0 }
};

/* ---- the compilation database ---- */

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

/* Made by the build, and gone: of no use to anybody. */
static bool is_temporary(const struct ftr_build_file *file)
{
	return file->is_pipe || (file->writers.nr > 0 && access(file->path, F_OK) != 0);
}

/* What configure scripts and link-time optimisation translate, and remove. */
static bool is_of_temporary(const struct ftr_build *build, const struct ftr_build_translation *made)
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
	return file != NULL && is_temporary(file);
}

static int write_database(const struct ftr_build *build, const char *path)
{
	struct ftr_ostream out;
	struct ftr_err err;
	size_t nr = 0;

	if (ftr_ostream_open(&out, path, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	ftr_ostream_puts(&out, "[");
	for (size_t i = 0; i < build->translations.nr; i++) {
		if (is_of_temporary(build, &build->translations.v[i]))
			continue;
		ftr_ostream_puts(&out, nr++ > 0 ? ",\n" : "\n");
		put_translation(&out, &build->translations.v[i]);
	}
	ftr_ostream_puts(&out, "\n]\n");
	if (ftr_ostream_close(&out, &err) < 0) {
		ftr_error("%s", err.text);
		return FTR_EXIT_FAILED;
	}
	ftr_verbose(1, "%s: %zu translations, %zu more of files that are gone", path, nr,
			build->translations.nr - nr);
	return FTR_EXIT_OK;
}

/* ---- lists of files ---- */

static int compare_files(const void *a, const void *b)
{
	const struct ftr_build_file *left = *(const struct ftr_build_file *const *)a;
	const struct ftr_build_file *right = *(const struct ftr_build_file *const *)b;

	return strcmp(left->path, right->path);
}

/* On one line, whatever stands in its arguments. */
static void put_command(struct ftr_ostream *out, const struct ftr_etrace_record *exec)
{
	for (size_t i = 0; i < exec->argc; i++) {
		ftr_ostream_putc(out, ' ');
		for (size_t j = 0; j < exec->argv[i].len; j++) {
			if (exec->argv[i].s[j] == '\n')
				ftr_ostream_puts(out, "\\n");
			else
				ftr_ostream_putc(out, exec->argv[i].s[j]);
		}
	}
}

static void put_makers(struct ftr_ostream *out, const struct ftr_build *build,
		       const struct ftr_build_file *file)
{
	for (size_t i = 0; i < file->writers.nr; i++) {
		const struct ftr_build_process *process = &build->processes.v[file->writers.v[i]];

		ftr_ostream_printf(out, "%s%d", i == 0 ? "\t" : "; ", process->pid);
		if (process->exec != NULL)
			put_command(out, process->exec);
	}
}

static void put_file(struct ftr_ostream *out, const struct ftr_build *build,
		     const struct ftr_build_file *file, bool has_makers)
{
	if (has_makers)
		ftr_ostream_printf(out, "%c%c%c ", file->readers.nr > 0 ? 'r' : '-',
				   file->writers.nr > 0 ? 'w' : '-', file->is_run ? 'x' : '-');
	ftr_ostream_puts(out, file->path);
	if (has_makers)
		put_makers(out, build, file);
	ftr_ostream_putc(out, '\n');
}

/* Those with a byte in @seen (NULL: all), by path. */
static void put_files(struct ftr_ostream *out, const struct ftr_build *build, const uint8_t *seen,
		      bool has_makers)
{
	FTR_VEC(const struct ftr_build_file *) chosen = { 0 };

	for (size_t i = 0; i < build->files.nr; i++) {
		const struct ftr_build_file *file = &build->files.v[i];

		if ((seen == NULL || seen[i]) && !is_temporary(file) &&
		    (seen == NULL || file->readers.nr + file->writers.nr > 0) &&
		    ftr_vec_push(&chosen, file) < 0)
			break;
	}
	if (chosen.nr > 0)
		qsort(chosen.v, chosen.nr, sizeof(*chosen.v), compare_files);
	for (size_t i = 0; i < chosen.nr; i++)
		put_file(out, build, chosen.v[i], has_makers);
	ftr_vec_fini(&chosen);
}

static void put_process(struct ftr_ostream *out, const struct ftr_build_process *process,
			unsigned depth)
{
	char duration[FTR_DURATION_CHARS + 1] = "         ?";

	if (process->end_ns >= process->start_ns)
		*ftr_fmt_duration(duration, process->end_ns - process->start_ns) = '\0';
	ftr_ostream_printf(out, "%s %4d %5zu %5zu  %*s%d", duration, process->status,
			   process->reads.nr, process->writes.nr,
			   (int)(depth < 100 ? depth * 2 : 200), "", process->pid);
	if (process->has_own_exec)
		put_command(out, process->exec);
	ftr_ostream_putc(out, '\n');
}

/* Parents come before their children in the list. */
static void put_tree(struct ftr_ostream *out, const struct ftr_build *build, uint32_t root,
		     unsigned depth)
{
	put_process(out, &build->processes.v[root], depth);
	for (uint32_t i = root + 1; depth < PROCESS_DEPTH_MAX && i < build->processes.nr; i++) {
		if (build->processes.v[i].parent == root)
			put_tree(out, build, i, depth + 1);
	}
}

static void put_processes(struct ftr_ostream *out, const struct ftr_build *build)
{
	ftr_ostream_puts(out, "# DURATION STAT  READ WROTE  PROCESS\n");
	for (uint32_t i = 0; i < build->processes.nr; i++) {
		if (build->processes.v[i].parent == i)
			put_tree(out, build, i, 0);
	}
}

typedef int walk_fn(const struct ftr_build *build, const struct ftr_build_file *file,
		    uint8_t *seen);

static int put_closure(struct ftr_ostream *out, const struct ftr_build *build, const char *path,
		       walk_fn *walk)
{
	char real[PATH_MAX];
	const struct ftr_build_file *file = ftr_build_find(build,
							   realpath(path, real) ? real : path);
	uint8_t *seen;

	if (file == NULL) {
		ftr_error("build: %s: the build did not touch it", path);
		return FTR_EXIT_FAILED;
	}
	seen = calloc(build->files.nr, 1);
	if (seen == NULL || walk(build, file, seen) < 0) {
		free(seen);
		ftr_error("out of memory");
		return FTR_EXIT_FAILED;
	}
	put_files(out, build, seen, false);
	free(seen);
	return FTR_EXIT_OK;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int put_unused(struct ftr_ostream *out, const struct ftr_build *build, const char *dir,
		      const char *data)
{
	char real[PATH_MAX], own[PATH_MAX];
	char *roots[2] = { real, NULL };
	FTSENT *entry;
	FTS *tree;

	if (realpath(dir, real) == NULL ||
	    (tree = fts_open(roots, FTS_PHYSICAL, compare_names)) == NULL) {
		ftr_error("build: %s: %s", dir, strerror(errno));
		return FTR_EXIT_FAILED;
	}
	if (realpath(data, own) == NULL)
		own[0] = '\0';
	while ((entry = fts_read(tree)) != NULL) {
		if (entry->fts_info == FTS_D &&
		    (strcmp(entry->fts_name, ".git") == 0 || strcmp(entry->fts_path, own) == 0))
			fts_set(tree, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F && ftr_build_find(build, entry->fts_path) == NULL)
			ftr_ostream_printf(out, "%s\n", entry->fts_path);
	}
	fts_close(tree);
	return FTR_EXIT_OK;
}

static bool has_query(const struct build_values *values)
{
	return values->lists_files || values->lists_processes || values->inputs_of != NULL ||
	       values->outputs_of != NULL || values->unused != NULL;
}

static int answer(const struct build_values *values, const struct ftr_build *build,
		  const char *data)
{
	struct ftr_output output;
	int status = FTR_EXIT_OK, closed;

	if (ftr_output_open(&output, &values->common, NULL) < 0)
		return FTR_EXIT_FAILED;
	if (values->lists_files)
		put_files(&output.out, build, NULL, true);
	if (values->lists_processes)
		put_processes(&output.out, build);
	if (values->inputs_of != NULL)
		status = put_closure(&output.out, build, values->inputs_of, ftr_build_inputs);
	if (status == FTR_EXIT_OK && values->outputs_of != NULL)
		status = put_closure(&output.out, build, values->outputs_of, ftr_build_outputs);
	if (status == FTR_EXIT_OK && values->unused != NULL)
		status = put_unused(&output.out, build, values->unused, data);
	closed = ftr_output_close(&output);
	return status != FTR_EXIT_OK ? status : closed;
}

/* ---- the command ---- */

static void warn(void *arg, const char *text)
{
	ftr_diag_warn(arg, "%s", text);
}

/* The calls that a trace's events stand for, as text. */
static int write_text(struct ftr_trace *trace, struct ftr_ostream *text, struct ftr_err *err)
{
	static const struct ftr_etrace_options extended = { .is_extended = true };
	static const struct ftr_pipeline_options all = { .event_full = true };
	struct ftr_source *source = NULL;
	struct ftr_sink *sink = ftr_sink_new(ftr_format_find("etrace")->write, text, err);
	int ret = sink == NULL ? ftr_err_set(err, ENOMEM, "out of memory") : 0;

	if (ret == 0) {
		sink->values = &extended;
		ret = ftr_trace_pipeline(trace, &all, &source, err);
	}
	if (ret == 0)
		ret = ftr_pump(source, sink, trace, NULL, err);
	ftr_sink_free(sink);
	ftr_source_free(source);
	return ret;
}

/* A trace of any format: @in reads from @text. */
static int open_trace(const char *path, struct ftr_diag *diag, struct ftr_istream *in,
		      struct ftr_ostream *text, struct ftr_err *err)
{
	struct ftr_trace *trace;
	int ret = ftr_trace_open(&trace, path, diag, err);

	if (ret < 0)
		return ret;
	ret = write_text(trace, text, err);
	ftr_trace_free(trace);
	if (ret == 0 && text->len == 0)
		ret = ftr_err_set(err, ENOENT, "%s: holds no system calls", path);
	if (ret == 0)
		ftr_istream_from_memory(in, path, text->buf, text->len);
	return ret;
}

static int open_calls(const struct build_values *values, const char *data, struct ftr_diag *diag,
		      struct ftr_istream *in, struct ftr_ostream *text)
{
	struct ftr_err err = { 0 };
	char path[PATH_MAX];
	struct stat st;
	int ret;

	snprintf(path, sizeof(path), "%s/" FTR_SYSCALL_FILE, data);
	if (values->etrace != NULL)
		ret = ftr_istream_open(in, AT_FDCWD, values->etrace, &err);
	else if (stat(data, &st) == 0 && !S_ISDIR(st.st_mode))
		ret = open_trace(data, diag, in, text, &err);
	else
		ret = ftr_istream_open(in, AT_FDCWD, path, &err);
	if (ret < 0)
		ftr_error("%s: record a build first: ftr build -- make", err.text);
	return ret;
}

static int examine_calls(const struct build_values *values, const char *data, bool was_run,
			 struct ftr_istream *in, struct ftr_diag *diag)
{
	struct ftr_etrace_log log;
	struct ftr_build build = { 0 };
	int status = FTR_EXIT_OK;

	ftr_etrace_log_init(&log);
	if (ftr_etrace_load(&log, in, warn, diag) < 0 || ftr_build_load(&build, &log) < 0) {
		ftr_error("out of memory");
		status = FTR_EXIT_FAILED;
	}
	if (status == FTR_EXIT_OK && (was_run || values->output != NULL || !has_query(values)))
		status = write_database(&build, values->output != NULL ? values->output : DATABASE);
	if (status == FTR_EXIT_OK && has_query(values))
		status = answer(values, &build, data);
	ftr_build_fini(&build);
	ftr_etrace_log_fini(&log);
	return status;
}

static int examine(const struct build_values *values, const char *data, bool was_run)
{
	struct ftr_diag diag = ftr_message_diag();
	struct ftr_ostream text;
	struct ftr_istream in;
	int status = FTR_EXIT_FAILED;

	if (ftr_ostream_to_memory(&text) < 0) {
		ftr_error("out of memory");
		return FTR_EXIT_FAILED;
	}
	if (open_calls(values, data, &diag, &in, &text) == 0) {
		status = examine_calls(values, data, was_run, &in, &diag);
		ftr_istream_close(&in);
	}
	ftr_message_diag_end(&diag);
	ftr_ostream_close(&text, NULL);
	return status;
}

static int build_run(void *arg, int argc, char **argv)
{
	static const struct ftr_record_opts opts = {
		.buffer_bytes = 4 << 20, .max_stack = 1 << 20, .has_syscalls = true,
	};
	const struct build_values *values = arg;
	const char *data = values->common.data != NULL ? values->common.data : ftr_cmd_data_dir();
	bool was_run = false;
	int status = FTR_EXIT_OK, examined;

	if (argc > 0 && values->etrace != NULL) {
		ftr_error("build: either a command to run or a text to look at (--etrace)");
		return FTR_EXIT_USAGE;
	}
	if (argc > 0)
		status = ftr_record_program(&opts, data, argv, &was_run);
	if (argc > 0 && !was_run)
		return status;
	examined = examine(values, data, was_run);
	return status != FTR_EXIT_OK ? status : examined;
}

const struct ftr_cmd ftr_cmd_build = {
	.name = "build",
	.usage = "[OPTION...] [--] [COMMAND [ARGUMENT...]]",
	.summary = "Run a build and write its compilation database, or ask about its files",
	.options = build_options,
	.values_bytes = sizeof(struct build_values),
	.stops_at_operand = true,
	.run = build_run,
};
