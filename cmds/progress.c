/* SPDX-License-Identifier: MIT */
/* The line that says how far a trace was read, and its interruption. */
#include "cmds/progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "utils/base/bits.h"
#include "utils/base/clock.h"
#include "utils/trace/trace.h"
#include "utils/trace/watch.h"

#define SHOWN_AFTER_NS UINT64_C(1000000000)
#define SHOWN_EVERY_NS UINT64_C(200000000)
#define CLEAR_LINE     "\r\033[K"

static void progress_tick(struct ftr_watch *watch);

static struct ftr_watch watch = { .tick = progress_tick };
static const struct ftr_trace *reading;		/* (borrowed) */
static struct sigaction old_action;
static bool has_action, is_shown, is_hidden, was_reported;
static uint64_t begin_ns, shown_ns;

struct ftr_watch *ftr_progress_watch(void)
{
	return &watch;
}

void ftr_progress_hide(void)
{
	is_hidden = true;
}

/* "41%, 1.2 of 2.9 GB, 310 MB/s, 5 s left", or events where the bytes are not known. */
static void print_line(uint64_t elapsed_ns)
{
	double seconds = (double)elapsed_ns / 1e9;
	double done = (double)reading->bytes_read, all = (double)reading->bytes_total;
	char text[120];

	if (done > 0 && all >= done)
		snprintf(text, sizeof(text), "%.0f%%, %.1f of %.1f MB, %.0f MB/s, %.0f s left",
			 100 * done / all, done / 1e6, all / 1e6, done / 1e6 / seconds,
			 seconds * (all - done) / done);
	else
		snprintf(text, sizeof(text), "%.1f million events, %.1f million/s",
			 (double)watch.events / 1e6, (double)watch.events / 1e6 / seconds);
	fprintf(stderr, CLEAR_LINE "reading: %s", text);
	fflush(stderr);
	is_shown = true;
}

static void clear_line(void)
{
	if (is_shown)
		fputs(CLEAR_LINE, stderr);
	is_shown = false;
}

static void progress_tick(struct ftr_watch *of)
{
	uint64_t now_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);

	if (is_hidden || reading == NULL || now_ns - begin_ns < SHOWN_AFTER_NS ||
	    now_ns - shown_ns < SHOWN_EVERY_NS)
		return;
	shown_ns = now_ns;
	print_line(now_ns - begin_ns);
}

/* A second one finds the signal's default again. */
static void on_interrupt(int signal_nr)
{
	watch.is_ending = 1;
}

/* What is ignored, as under nohup, stays so; a stream that is shown as it comes ends at once. */
void ftr_progress_begin(const struct ftr_trace *trace)
{
	const char *term = getenv("TERM");
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	reading = trace;
	begin_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	is_hidden |= !isatty(STDERR_FILENO) || term == NULL || strcmp(term, "dumb") == 0;
	has_action = !trace->is_growing && sigaction(SIGINT, NULL, &old_action) == 0 &&
		     old_action.sa_handler == SIG_DFL && sigaction(SIGINT, &action, NULL) == 0;
}

void ftr_progress_end(void)
{
	clear_line();
	if (has_action)
		sigaction(SIGINT, &old_action, NULL);
	has_action = false;
	reading = NULL;
	if (!watch.was_ended || was_reported)
		return;
	was_reported = true;
	ftr_warn("interrupted: the result is that of the first %llu events",
		 (unsigned long long)watch.events);
}

int ftr_progress_status(int status)
{
	return status == FTR_EXIT_OK && watch.was_ended ? 128 + SIGINT : status;
}
