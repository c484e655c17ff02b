/* SPDX-License-Identifier: MIT */
/*
 * The collector of perf events: when the program's tasks run, wait, begin, end and get names, by
 * the kernel, a ring a CPU.  Nothing of it is in the program.  Why the events begin at the recorder
 * itself: doc/adr/0015.
 */
#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/record/collector.h"
#include "utils/record/event_word.h"
#include "utils/record/perf_cpus.h"
#include "utils/record/sdt_events.h"
#include "utils/record/sysinfo.h"

/*
 * Some ten thousand switches.  Unprivileged users may lock kernel.perf_event_mlock_kb (516) for
 * such rings, twice as much: the program may want rings, too.
 */
#define RING_BYTES FTR_KIB(256)

struct perf_collector {
	const struct ftr_recording *recording;
	unsigned events;		/* FTR_PERF_* bits that are recorded */
	struct ftr_perf_cpus cpus;
};

static struct perf_event_attr task_attr(const struct perf_collector *self)
{
	const struct ftr_recording *recording = self->recording;

	return ftr_perf_task_attr(self->events, (clockid_t)recording->control->clock_id,
				  recording->running_nr != 0 ? FTR_PERF_SINCE_NOW :
							       FTR_PERF_SINCE_EXEC);
}

static void state(struct perf_collector *self, const char *text)
{
	if (self->recording->events_text != NULL)
		snprintf(self->recording->events_text, FTR_EVENTS_TEXT_BYTES, "%s", text);
}

/* An event on each CPU that is there and on.  0 or -errno. */
static int cpus_open(struct perf_collector *self, pid_t pid)
{
	const struct perf_event_attr attr = task_attr(self);
	long nr = sysconf(_SC_NPROCESSORS_CONF);
	unsigned i;

	for (i = 0; i < (unsigned)(nr > 0 ? nr : 1); i++) {
		struct ftr_perf_cpu cpu = { .cpu = i };
		int ret = ftr_perf_ring_open(&cpu.ring, &attr, pid, i);

		if (ret == 0)
			ret = ftr_vec_push(&self->cpus.v, cpu);
		if (ret < 0 && ret != -ENODEV)
			return ret;
	}
	return self->cpus.v.nr > 0 ? 0 : -ENODEV;
}

/* All CPUs get the same room. */
static int cpus_map(struct perf_collector *self, size_t bytes)
{
	int ret = 0;
	size_t i;

	for (i = 0; ret == 0 && i < self->cpus.v.nr; i++)
		ret = ftr_perf_ring_map(&self->cpus.v.v[i].ring, bytes);
	for (i = 0; ret < 0 && i < self->cpus.v.nr; i++)
		ftr_perf_ring_unmap(&self->cpus.v.v[i].ring);
	return ret;
}

/* As much as we may lock in memory.  *bytes: how much that was. */
static int cpus_map_largest(struct perf_collector *self, size_t *bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	int ret;

	*bytes = RING_BYTES;
	while ((ret = cpus_map(self, *bytes)) < 0 && (ret == -EPERM || ret == -ENOMEM) &&
	       *bytes > page_bytes)
		*bytes /= 2;
	return ret;
}

/* One line, and the recording goes on without. */
static void events_refused(struct perf_collector *self, const char *call, int code)
{
	char why[FTR_EVENTS_TEXT_BYTES - 40], text[FTR_EVENTS_TEXT_BYTES];

	ftr_perf_ring_refusal(why, sizeof(why), code);
	snprintf(text, sizeof(text), "none: %s: %s", call, why);
	state(self, text);
	ftr_diag_warn(self->recording->diag,
		      "not recording scheduling and task events: %s: %s; --no-event silences this",
		      call, why);
}

static void events_state(struct perf_collector *self, size_t ring_bytes)
{
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	ftr_event_perf_names(self->events, &text);
	if (ring_bytes < RING_BYTES)
		ftr_strbuf_printf(&text, " (rings of only %zu KB)", ring_bytes / FTR_KIB(1));
	state(self, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
}

/* The other threads of a program that runs. */
static void threads_join(struct perf_collector *self)
{
	const struct ftr_recording *recording = self->recording;
	const struct perf_event_attr attr = task_attr(self);
	int ret = ftr_perf_cpus_join(&self->cpus, &attr, recording->running,
				     recording->running_nr);

	if (ret < 0)
		ftr_diag_warn(self->recording->diag, "scheduling and task events of some threads "
			      "are not recorded: %s%s", strerror(-ret),
			      ret == -EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
}

static void events_start(struct perf_collector *self, pid_t pid)
{
	struct ftr_store *store = self->recording->store;
	size_t bytes = 0, i;
	int ret = cpus_open(self, pid);

	if (ret < 0) {
		events_refused(self, "perf_event_open", -ret);
		ftr_perf_cpus_close(&self->cpus);
		return;
	}
	ret = cpus_map_largest(self, &bytes);
	if (ret < 0) {
		ftr_diag_warn(
			self->recording->diag,
			"not recording scheduling and task events: cannot lock memory for perf "
			"buffers; raise kernel.perf_event_mlock_kb or ulimit -l");
		state(self,
		      "none: cannot lock memory for perf buffers (kernel.perf_event_mlock_kb, ulimit -l)");
		ftr_perf_cpus_close(&self->cpus);
		return;
	}
	if (bytes < RING_BYTES)
		ftr_diag_warn(self->recording->diag,
			      "perf buffers have only %zu KB a CPU, so events may be lost; raise "
			      "kernel.perf_event_mlock_kb or ulimit -l",
			      bytes / FTR_KIB(1));
	threads_join(self);
	for (i = 0; i < self->cpus.v.nr; i++)
		store->ops->perf(store, self->cpus.v.v[i].cpu, NULL, 0);
	events_state(self, bytes);
}

/* What --Event adds to what a recording asks for anyway. */
struct perf_values {
	unsigned events;	/* FTR_PERF_* bits */
};

static unsigned perf_of(const char *pattern)
{
	const struct ftr_event_kind *kind;
	unsigned perf = 0;
	size_t pos = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		if (kind->perf != 0 && fnmatch(pattern, kind->name, 0) == 0)
			perf |= kind->perf;
	}
	return perf;
}

static int event_unknown(struct ftr_slice word, struct ftr_err *err)
{
	struct ftr_strbuf names;
	int ret;

	ftr_strbuf_init(&names);
	ftr_event_perf_names(FTR_PERF_ALL, &names);
	ret = ftr_err_set(err, EINVAL,
			  "unknown event \"%.*s\"; choose from: %s, or the kernel's "
			  "SYSTEM:EVENT@kernel and a program's PROVIDER:NAME that --list-event shows",
			  (int)word.len, word.s, ftr_strbuf_str(&names));
	ftr_strbuf_fini(&names);
	return ret;
}

static int event_add(unsigned *perf, struct ftr_slice word, struct ftr_err *err)
{
	unsigned of_word = 0;
	char pattern[64];

	if (word.len < sizeof(pattern)) {
		snprintf(pattern, sizeof(pattern), "%.*s", (int)word.len, word.s);
		of_word = perf_of(pattern);
	}
	if (of_word == 0 && !ftr_sdt_is_word(word))
		return event_unknown(word, err);
	*perf |= of_word;
	return 0;
}

/* "linux:EVENT" or a shell pattern; the kernel's own are another collector's. */
static int parse_events(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	struct ftr_event_word word;
	int ret = 0;

	while (ret == 0 && ftr_event_word_next(&arg, &word)) {
		if (!word.is_kernel)
			ret = event_add(value, word.name, err);
	}
	return ret;
}

static const struct ftr_option perf_options[] = {
	FTR_OPTION("Event", 'E', "EVENT",
		   "Record an event that --no-event or --no-sched leave out: linux:schedule, "
		   "linux:task-new, linux:task-exit, linux:task-name; * stands for any text",
		   parse_events, struct perf_values, events),
	{ 0 }
};

static int perf_list(struct ftr_strbuf *text, struct ftr_err *err)
{
	const struct ftr_event_kind *kind;
	size_t pos = 0;

	while ((kind = ftr_event_kind_next(&pos)) != NULL) {
		if (kind->perf != 0)
			ftr_strbuf_printf(text, "%s\n", kind->name);
	}
	return 0;
}

static void *perf_open(const struct ftr_recording *recording, const void *values,
		       struct ftr_err *err)
{
	const struct perf_values *given = values;
	struct perf_collector *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "perf collector: out of memory");
		return NULL;
	}
	self->recording = recording;
	self->cpus = (struct ftr_perf_cpus){
		.store = recording->store, .put = recording->store->ops->perf,
		.clock = (clockid_t)recording->control->clock_id,
	};
	if (recording->why_no_events == NULL)
		self->events = recording->events | (given != NULL ? given->events : 0);
	if (self->events == 0)
		state(self, recording->why_no_events != NULL ? recording->why_no_events :
							       "none: --no-event");
	else if (!recording->is_program_self && recording->running_nr == 0)
		events_start(self, 0);
	return self;
}

static void perf_started(void *arg, int32_t pid)
{
	struct perf_collector *self = arg;

	if ((self->recording->is_program_self || self->recording->running_nr != 0) &&
	    self->events != 0)
		events_start(self, pid);
}

static void perf_watch(void *arg, int epoll_fd)
{
	ftr_perf_cpus_watch(&((struct perf_collector *)arg)->cpus, epoll_fd);
}

static unsigned perf_drain(void *arg)
{
	return ftr_perf_cpus_drain(&((struct perf_collector *)arg)->cpus);
}

static void perf_close(void *arg)
{
	struct perf_collector *self = arg;

	ftr_perf_cpus_end(&self->cpus);
	free(self);
}

const struct ftr_collector ftr_collector_perf = {
	.name	      = "perf",
	.options      = perf_options,
	.values_bytes = sizeof(struct perf_values),
	.list	      = perf_list,
	.open	      = perf_open,
	.started      = perf_started,
	.watch	      = perf_watch,
	.close	      = perf_close,
	.drain	      = perf_drain,
};
