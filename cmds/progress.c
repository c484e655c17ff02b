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
static const char *working;			/* (borrowed) on what else */
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
static void print_line(const char *doing, double done, double all, uint64_t elapsed_ns)
{
	double seconds = (double)elapsed_ns / 1e9;
	char text[120];

	if (done > 0 && all >= done)
		snprintf(text, sizeof(text), "%.0f%%, %.1f of %.1f MB, %.0f MB/s, %.0f s left",
			 100 * done / all, done / 1e6, all / 1e6, done / 1e6 / seconds,
			 seconds * (all - done) / done);
	else
		snprintf(text, sizeof(text), "%.1f million events, %.1f million/s",
			 (double)watch.events / 1e6, (double)watch.events / 1e6 / seconds);
	fprintf(stderr, CLEAR_LINE "%s: %s", doing, text);
	fflush(stderr);
	is_shown = true;
}

/* Is it time for another line?  *elapsed_ns: since the beginning. */
static bool is_due(uint64_t *elapsed_ns)
{
	uint64_t now_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);

	*elapsed_ns = now_ns - begin_ns;
	if (is_hidden || *elapsed_ns < SHOWN_AFTER_NS || now_ns - shown_ns < SHOWN_EVERY_NS)
		return false;
	shown_ns = now_ns;
	return true;
}

static void terminal_look(void)
{
	const char *term = getenv("TERM");

	is_hidden |= !isatty(STDERR_FILENO) || term == NULL || strcmp(term, "dumb") == 0;
	begin_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
}

static void clear_line(void)
{
	if (is_shown)
		fputs(CLEAR_LINE, stderr);
	is_shown = false;
}

static void progress_tick(struct ftr_watch *of)
{
	uint64_t elapsed_ns;

	if (reading != NULL && is_due(&elapsed_ns))
		print_line("reading", (double)reading->bytes_read, (double)reading->bytes_total,
			   elapsed_ns);
}

void ftr_progress_of_bytes(const char *doing)
{
	working = doing;
	terminal_look();
}

void ftr_progress_bytes(uint64_t done, uint64_t all)
{
	uint64_t elapsed_ns;

	if (is_due(&elapsed_ns))
		print_line(working, (double)done, (double)all, elapsed_ns);
}

/* A second one finds the signal's default again. */
static void on_interrupt(int signal_nr)
{
	watch.is_ending = 1;
}

/* What is ignored, as under nohup, stays so; a stream that is shown as it comes ends at once. */
void ftr_progress_begin(const struct ftr_trace *trace)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	reading = trace;
	terminal_look();
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
