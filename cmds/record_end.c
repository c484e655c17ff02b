/* SPDX-License-Identifier: MIT */
/* What record tells its user at the end of a recording. */
#include "cmds/record_end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/message.h"
#include "cmds/record.h"
#include "utils/record/recorder.h"

static void warn_lost(const struct ftr_recorder_result *result)
{
	static const char *const causes[FTR_LOST_CAUSES] = {
		[FTR_LOST_NO_ROOM] = "rings were full; make them larger with -b",
		[FTR_LOST_DEPTH] = "calls were nested too deeply; raise --max-stack",
		[FTR_LOST_DISK]	   = "writing to the data directory failed",
		[FTR_LOST_DAMAGED] = "the program overwrote them in its ring",
		[FTR_LOST_EVENTS]  = ("the kernel's buffers for events were full; "
				      "--no-sched avoids most of them"),
		[FTR_LOST_KERNEL]  = ("the kernel's buffers of its own events were full; make "
				      "them larger with --kernel-buffer"),
	};
	size_t i;

	for (i = 0; i < FTR_LOST_CAUSES; i++) {
		if (result->lost[i] != 0)
			ftr_warn("LOST %" PRIu64 " records: %s", result->lost[i], causes[i]);
	}
}

static void print_time(const struct ftr_recorder_result *result)
{
	const struct rusage *usage = &result->usage;

	fprintf(stderr, "elapsed time: %6" PRIu64 ".%09" PRIu64 " sec\n"
		" system time: %6ld.%06ld000 sec\n   user time: %6ld.%06ld000 sec\n",
		result->elapsed_ns / 1000000000u, result->elapsed_ns % 1000000000u,
		(long)usage->ru_stime.tv_sec, (long)usage->ru_stime.tv_usec,
		(long)usage->ru_utime.tv_sec, (long)usage->ru_utime.tv_usec);
}

/* What all files of the data directory @path hold. */
static uint64_t directory_bytes(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (dir != NULL)
		closedir(dir);
	return bytes;
}

/* "1.4 MB" */
static const char *size_text(char *text, size_t room, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1024;
	snprintf(text, room, "%.*f %s", unit > 0, value, units[unit]);
	return text;
}

/* For a person at a terminal: how the program died, what there is now and what to do with it. */
static void report_end(const struct ftr_recorder_result *result, const char *program,
		       const char *dir, bool has_calls)
{
	bool is_default = strcmp(dir, ftr_cmd_data_dir()) == 0;
	char size[32];

	if (result->has_status && WIFSIGNALED(result->wait_status))
		ftr_verbose(0, "%s was killed by signal %d (%s)", program,
			    WTERMSIG(result->wait_status),
			    strsignal(WTERMSIG(result->wait_status)));
	ftr_verbose(0, "%" PRIu64 " call%s, %u task%s, %s in %s; next: %s %s%s%s%s",
		    result->calls, result->calls == 1 ? "" : "s", result->tasks,
		    result->tasks == 1 ? "" : "s",
		    size_text(size, sizeof(size), directory_bytes(dir)), dir,
		    program_invocation_short_name, has_calls ? "replay" : "report",
		    is_default ? "" : " ", is_default ? "" : dir, has_calls ? ", or report" : "");
}

static void report_notes(const char *notes)
{
	for (; notes != NULL && *notes != '\0'; notes += strcspn(notes, "\n") + 1) {
		if (*notes == '!')
			ftr_warn("%.*s", (int)strcspn(notes, "\n") - 1, notes + 1);
		else
			ftr_verbose(1, "%.*s", (int)strcspn(notes, "\n"), notes);
	}
}

void ftr_record_report_end(const struct ftr_recorder_result *result,
			   const struct ftr_record_opts *opts,
			   const struct ftr_recorder_options *recorder)
{
	const char *program = recorder->program->path;

	if (result->was_stopped && recorder->attach_pid == 0)
		ftr_warn("stopped by a signal; the program continues untraced");
	if (recorder->runtime != NULL && !recorder->nop && result->sessions == 0 &&
	    result->has_status)
		ftr_warn("%s exited before %s connected; see the loader's errors above", program,
			 recorder->runtime);
	ftr_verbose(1, "%u sessions, %u tasks, %" PRIu64 " records", result->sessions,
		    result->tasks, result->records);
	if (result->dumps != 0)
		ftr_verbose(1, "%u dumps", result->dumps);
	report_notes(result->notes);
	if (opts->shows_time)
		print_time(result);
	if (opts->shows_end && isatty(STDERR_FILENO))
		report_end(result, program, recorder->dir, recorder->summary_seconds == 0);
	warn_lost(result);	/* last: not to be overlooked */
}
