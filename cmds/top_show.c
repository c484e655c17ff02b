/* SPDX-License-Identifier: MIT */
/* See top_show.h. */
#include "cmds/top_show.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cmds/apart.h"
#include "cmds/message.h"
#include "cmds/open.h"
#include "utils/analysis/rates.h"
#include "utils/format/uftrace/summary_follow.h"
#include "utils/trace/func.h"

#define LOOK_MS	   50
#define CLEAR	   "\033[2J"
#define BEGIN	   "\033[H\033[?7l"	/* at the first line; what is too long is cut */
#define LINE_END   "\033[K\n"	/* what was there behind it is gone */
#define END	   "\033[J\033[?7h"
#define LINES_AROUND 3		/* title, head, and where the cursor rests */

/* When what explains addresses was written last. */
struct stamp {
	struct timespec dir_time;
	off_t task_bytes;
};

struct top {
	struct ftr_top_show *show;	/* (borrowed) */
	struct ftr_summary_follow follow;
	struct ftr_rates rates;
	struct ftr_ostream out;
	struct ftr_opened opened;	/* the trace that has the names */
	bool has_names;
	struct stamp stamp;		/* ... as it was read */
	uint64_t shown_ns;		/* when a table was shown last; 0 = never */
	uint64_t shown_nr;
	bool has_more;			/* than was shown */
	bool is_terminal, is_done;
	struct winsize size;		/* of the terminal, as it was then */
	bool has_keys;
	struct termios terminal;	/* as it was before */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- names ---- */

static bool stamp_get(const char *dir, struct stamp *stamp)
{
	char path[4096];
	struct stat st;

	if (stat(dir, &st) < 0)
		return false;
	*stamp = (struct stamp){ .dir_time = st.st_mtim };
	snprintf(path, sizeof(path), "%s/task.txt", dir);
	if (stat(path, &st) < 0)
		return false;
	stamp->task_bytes = st.st_size;
	return true;
}

static bool stamp_is(const struct stamp *x, const struct stamp *y)
{
	return x->dir_time.tv_sec == y->dir_time.tv_sec &&
	       x->dir_time.tv_nsec == y->dir_time.tv_nsec && x->task_bytes == y->task_bytes;
}

static void names_close(struct top *top)
{
	if (top->has_names)
		ftr_opened_close(&top->opened);
	top->has_names = false;
}

/* As they are known by now; what a reader says of data that are being written is not shown. */
static void names_read(struct top *top)
{
	struct ftr_common common = *top->show->common;
	struct stamp stamp;
	struct ftr_err said = { 0 };

	if (!stamp_get(top->show->dir, &stamp) ||
	    (top->has_names && stamp_is(&stamp, &top->stamp)))
		return;
	names_close(top);
	common.data = top->show->dir;
	ftr_message_capture(&said);
	top->has_names = ftr_opened_open(&top->opened, &common, NULL, FTR_ORDER_ANY) == 0;
	ftr_message_capture(NULL);
	top->stamp = stamp;
}

static const char *name_of(struct top *top, const struct ftr_summary_place *place, uint64_t addr,
			   char unknown[static 24])
{
	struct ftr_trace *trace = top->opened.trace;
	const struct ftr_func *func = NULL;
	char sid[17];

	if (top->has_names) {
		snprintf(sid, sizeof(sid), "%016" PRIx64, place->sid);
		func = ftr_trace_resolve(trace, ftr_trace_session_find(trace, sid), place->at_ns,
					 addr);
	}
	if (func != NULL)
		return func->name;
	snprintf(unknown, 24, "<%" PRIx64 ">", addr);
	return unknown;
}

/* ---- sums ---- */

static int block_add(struct top *top, struct ftr_summary_cursor *cursor, struct ftr_err *err)
{
	struct ftr_summary_place place;
	struct ftr_summary_row row;
	char unknown[24];
	uint64_t addr;

	names_read(top);
	ftr_rates_begin(&top->rates, cursor->begin_ns);
	top->has_more = true;
	while (ftr_summary_get(cursor, &place, &addr, &row))
		if (ftr_rates_add(&top->rates, name_of(top, &place, addr, unknown), &row) < 0)
			return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

/* ---- the table ---- */

/* Another size: who knows what the terminal made of the lines. */
static void terminal_begin(struct top *top, struct ftr_top_opts *opts)
{
	struct winsize size = { 0 };
	unsigned rows;

	ioctl(top->show->fd, TIOCGWINSZ, &size);
	if (top->shown_ns == 0 || size.ws_row != top->size.ws_row ||
	    size.ws_col != top->size.ws_col)
		ftr_ostream_puts(&top->out, CLEAR);
	ftr_ostream_puts(&top->out, BEGIN);
	top->size = size;
	rows = size.ws_row > LINES_AROUND ? (unsigned)size.ws_row - LINES_AROUND : 1;
	if (size.ws_row != 0 && (opts->rows == 0 || opts->rows > rows))
		opts->rows = rows;
}

/* 0, or -errno: out of memory, or nobody reads any more. */
static int table_show(struct top *top, struct ftr_err *err)
{
	struct ftr_top_opts opts = top->show->opts;
	struct ftr_ostream *out = &top->out;
	int ret;

	opts.line_end = "\n";
	if (top->is_terminal) {
		opts.line_end = LINE_END;
		terminal_begin(top, &opts);
	} else if (top->shown_ns != 0) {
		ftr_ostream_putc(out, '\n');
	}
	if (ftr_top_print(&top->rates, &opts, out) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (top->is_terminal)
		ftr_ostream_puts(out, END);
	ret = ftr_ostream_flush(out, err);
	top->shown_ns = now_ns();
	return ret;
}

/* A table more: the last of those that were asked for ends the showing. */
static int table_next(struct top *top, struct ftr_err *err)
{
	int ret = table_show(top, err);

	top->has_more = false;
	top->is_done = ++top->shown_nr == top->show->rounds;
	return ret;
}

/*
 * Add what is there.  Where it comes late, a table of each interval goes into a file; on a terminal
 * nobody would see it.
 */
static int blocks_read(struct top *top, struct ftr_err *err)
{
	struct ftr_summary_cursor cursor;
	int ret = 0;

	while (!top->is_done && ret >= 0) {
		ret = ftr_summary_follow_next(&top->follow, top->show->dir, &cursor, err);
		if (ret <= 0)
			break;
		if (top->has_more && !top->is_terminal && cursor.begin_ns != top->rates.begin_ns)
			ret = table_next(top, err);
		if (ret >= 0 && !top->is_done)
			ret = block_add(top, &cursor, err);
	}
	return ret;
}

/* Nothing was called in an interval that should have been seen by now. */
static bool is_idle(const struct top *top)
{
	uint64_t interval_ns = top->show->opts.interval_ns;

	return top->shown_ns != 0 && now_ns() - top->shown_ns > interval_ns + interval_ns / 2;
}

static int look(struct top *top, struct ftr_err *err)
{
	int ret = blocks_read(top, err);

	if (ret == 0 && !top->has_more && is_idle(top)) {
		ftr_rates_begin(&top->rates,
				top->rates.begin_ns + top->show->opts.interval_ns);
		top->has_more = true;
	}
	return ret == 0 && top->has_more && !top->is_done ? table_next(top, err) : ret;
}

/* ---- keys ---- */

static void keys_begin(struct top *top)
{
	struct termios raw;

	if (!top->is_terminal || !top->show->is_left || tcgetattr(STDIN_FILENO, &top->terminal) < 0)
		return;
	raw = top->terminal;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	top->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void keys_end(const struct top *top)
{
	if (top->has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &top->terminal);
}

static int key_read(struct top *top, struct ftr_err *err)
{
	struct ftr_top_opts *opts = &top->show->opts;
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1)
		key = 'q';		/* the terminal is gone */
	if (key == 's')
		opts->key = (opts->key + 1) % FTR_RATE_KEYS;
	else if (key == 'a')
		opts->is_all = !opts->is_all;
	else if (key == 'q')
		top->is_done = true;
	return top->shown_ns != 0 ? table_show(top, err) : 0;
}

/* ---- ---- */

/* Keys at the terminal are for the program and its recorder; we end when that has. */
/* False: the recording has ended. */
static bool goes_on(struct top *top, struct ftr_err *err, int *ret)
{
	struct pollfd polled[] = {
		{ .fd = top->show->ended_fd, .events = POLLIN },
		{ .fd = top->has_keys ? STDIN_FILENO : -1, .events = POLLIN },
	};
	bool has_ended;

	*ret = 0;
	poll(polled, 2, LOOK_MS);
	has_ended = polled[0].revents != 0;
	if (!has_ended && polled[1].revents != 0)
		*ret = key_read(top, err);
	if (*ret == 0 && !top->is_done)
		*ret = look(top, err);
	return !has_ended;
}

int ftr_top_show(struct ftr_top_show *show)
{
	struct ftr_err err = { 0 };
	struct top top = { .show = show, .is_terminal = isatty(show->fd) };
	int ret = ftr_ostream_from_fd(&top.out, show->fd, "top");

	if (ret < 0) {
		ftr_error("top: out of memory");
		return -1;
	}
	ftr_ending_signals_ignore();
	signal(SIGTTOU, SIG_IGN);
	show->opts.use_color = top.is_terminal && show->common->color != FTR_COLOR_NO;
	ftr_summary_follow_init(&top.follow);
	ftr_rates_init(&top.rates);
	keys_begin(&top);
	while (!top.is_done && goes_on(&top, &err, &ret) && ret == 0)
		;
	keys_end(&top);
	if ((top.is_done || ret < 0) && show->is_left)
		kill(show->recorder, SIGINT);
	if (ret < 0 && ret != -EPIPE)
		ftr_error("top: %s", err.text);
	names_close(&top);
	ftr_rates_fini(&top.rates);
	ftr_summary_follow_fini(&top.follow);
	ftr_ostream_close(&top.out, &err);
	return ret < 0 && ret != -EPIPE ? -1 : 0;
}
