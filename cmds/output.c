/* SPDX-License-Identifier: MIT */
/* See output.h. */
#include "cmds/output.h"

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "cmds/progress.h"
#include "cmds/words.h"
#include "utils/cli/common.h"
#include "utils/view/html_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_CHUNK_BYTES 65536

static const char *pager_command(void)
{
	const char *pager = getenv("FTR_PAGER"), *term = getenv("TERM");

	if (term == NULL || strcmp(term, "dumb") == 0)	/* an editor's shell: it scrolls itself */
		return NULL;
	if (pager == NULL)
		pager = getenv("PAGER");
	if (pager == NULL)
		pager = "less";
	if (*pager == '\0' || strcmp(pager, "cat") == 0)
		return NULL;
	return pager;
}

static void pager_exec(const char *command, int input)
{
	const char *const argv[] = { "sh", "-c", command, NULL };

	dup2(input, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setenv("LESS", "FRSX", 0);
	setenv("LV", "-c", 0);
	execv("/bin/sh", (char **)argv);
	_exit(FTR_EXIT_NOT_FOUND);
}

/* A missing pager must not swallow the output. */
static bool pager_exists(const char *command)
{
	char word[256];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(command, " \t"), command);
	return ftr_words_is_program(word);
}

/* The descriptor to write to: the pager's input, or standard output when there is none. */
static int pager_start(struct ftr_output *output, const struct ftr_common *common)
{
	const char *command = pager_command();
	int fds[2];

	if (common->no_pager || !isatty(STDOUT_FILENO) || command == NULL ||
	    !pager_exists(command) || pipe2(fds, O_CLOEXEC) < 0)
		return STDOUT_FILENO;
	output->reader = fork();
	if (output->reader == 0)
		pager_exec(command, fds[0]);
	close(fds[0]);
	if (output->reader > 0)
		return fds[1];
	output->reader = 0;
	close(fds[1]);
	return STDOUT_FILENO;
}

/* What is read is the page's text, until whoever writes it has closed it. */
static void page_make(int input, const char *title, const char *path)
{
	char buf[PAGE_CHUNK_BYTES];
	struct ftr_html_text text;
	struct ftr_ostream out;
	struct ftr_err err = { 0 };
	ssize_t len;
	int ret;

	ret = path != NULL ? ftr_ostream_open(&out, path, &err) :
			     ftr_ostream_from_fd(&out, STDOUT_FILENO, "standard output");
	if (ret < 0) {
		ftr_error("%s", path != NULL ? err.text : "out of memory");
		_exit(FTR_EXIT_FAILED);
	}
	ftr_html_text_begin(&text, &out, title);
	while ((len = read(input, buf, sizeof(buf))) > 0 || (len < 0 && errno == EINTR)) {
		if (len > 0)
			ftr_html_text_put(&text, buf, (size_t)len);
		if (out.code != 0)
			break;
	}
	ftr_html_text_end(&text);
	ret = ftr_ostream_close(&out, &err);
	if (ret < 0 && ret != -EPIPE)
		ftr_error("%s", err.text);
	_exit(ret < 0 && ret != -EPIPE ? FTR_EXIT_FAILED : FTR_EXIT_OK);
}

/* The descriptor of what becomes a page; -errno: there is none. */
static int page_start(struct ftr_output *output, const struct ftr_common *common, const char *path)
{
	char title[PATH_MAX + 8];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	snprintf(title, sizeof(title), "ftr: %s", ftr_data_path(common));
	output->reader = fork();
	if (output->reader == 0) {
		close(fds[1]);
		page_make(fds[0], title, path);
	}
	close(fds[0]);
	if (output->reader > 0)
		return fds[1];
	output->reader = 0;
	close(fds[1]);
	return -EAGAIN;
}

/* The directory that a file stands in. */
static int stat_parent(const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int ret;

	if (slash == NULL)
		return stat(".", st);
	parent = strndup(path, (size_t)(slash - path) + 1);
	if (parent == NULL)
		return -1;
	ret = stat(parent, st);
	free(parent);
	return ret;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool ftr_output_is_input(const char *data, const char *path)
{
	struct stat in, out, parent;

	if (path == NULL || stat(path, &out) < 0 || !S_ISREG(out.st_mode) ||
	    (strcmp(data, "-") == 0 ? fstat(STDIN_FILENO, &in) :
					     stat(data, &in)) < 0)
		return false;
	if (!is_same_file(&in, &out) &&
	    (!S_ISDIR(in.st_mode) || stat_parent(path, &parent) < 0 || !is_same_file(&in, &parent)))
		return false;
	ftr_error("%s: is part of the trace being read; name another file", path);
	return true;
}

/* By the environment: NO_COLOR with any value, CLICOLOR_FORCE with any but 0. */
static bool wants_color(const struct ftr_common *common)
{
	const char *term = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");

	if (common->color != FTR_COLOR_AUTO)
		return common->color == FTR_COLOR_YES;
	if (force != NULL && strcmp(force, "0") != 0 && getenv("NO_COLOR") == NULL)
		return true;
	return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0 &&
	       getenv("NO_COLOR") == NULL;
}

static bool use_color(const struct ftr_common *common, const char *path)
{
	if (common->is_html)
		return common->color != FTR_COLOR_NO;
	return path != NULL ? common->color == FTR_COLOR_YES : wants_color(common);
}

int ftr_output_open(struct ftr_output *output, const struct ftr_common *common, const char *path)
{
	struct ftr_err err = { 0 };
	int ret, fd;

	if (path == NULL && ftr_output_is_input(ftr_data_path(common), common->output))
		return -EINVAL;
	if (path == NULL)
		path = common->output;
	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	*output = (struct ftr_output){ .is_page = common->is_html,
				       .use_color = use_color(common, path) };
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a limit is a write that fails */
	if (path != NULL && !common->is_html) {
		ret = ftr_ostream_open(&output->out, path, &err);
		if (ret < 0)
			ftr_error("%s", err.text);
		return ret;
	}
	if (path == NULL && isatty(STDOUT_FILENO))
		ftr_progress_hide();
	fd = common->is_html ? page_start(output, common, path) : pager_start(output, common);
	if (fd < 0) {
		ftr_error("--format=html: %s", strerror(-fd));
		return fd;
	}
	ret = ftr_ostream_from_fd(&output->out, fd, "standard output");
	if (ret < 0)
		ftr_error("out of memory");
	output->out.owns_fd = output->reader != 0;
	return ret;
}

int ftr_output_close(struct ftr_output *output)
{
	struct ftr_err err = { 0 };
	int ret = ftr_ostream_close(&output->out, &err), status = 0;

	if (output->reader != 0)
		while (waitpid(output->reader, &status, 0) < 0 && errno == EINTR)
			;
	if (output->is_page && status != 0)	/* it has said why */
		return FTR_EXIT_FAILED;
	output->is_quiet_end = ret == -EPIPE;
	if (ret == 0 || output->is_quiet_end)
		return FTR_EXIT_OK;
	ftr_error("%s", err.text);
	return FTR_EXIT_FAILED;
}

int ftr_output_end(struct ftr_output *output, int ret, const struct ftr_err *err)
{
	int status = ftr_output_close(output);

	if (ret == 0)
		return status;
	ftr_error("%s", err->text);
	return ret == -EINVAL ? FTR_EXIT_USAGE : FTR_EXIT_FAILED;
}
