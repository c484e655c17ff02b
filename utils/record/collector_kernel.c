/* SPDX-License-Identifier: MIT */
/*
 * The collector of what the kernel's own tracing tells of the program's tasks: its events (-E) and
 * functions (-k), by an instance of tracefs, whose pages go to the store as they are; where there
 * is none, events by perf.  doc/adr/0044, doc/adr/0075.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/strbuf.h"
#include "utils/format/uftrace/write_kernel.h"
#include "utils/record/collector.h"
#include "utils/record/event_word.h"
#include "utils/record/kernel_events.h"
#include "utils/record/kernel_pages.h"
#include "utils/record/kernel_samples.h"
#include "utils/record/process.h"
#include "utils/record/tracefs.h"

#define BUFFER_BYTES FTR_KIB(1408) /* a CPU's, as the kernel has it */
#define BUFFER_MAX_BYTES FTR_MIB(1024)
#define DEPTH_MAX 50
#define GRAPH_TRACER "function_graph"
#define PID_NAMESPACE "/proc/self/ns/pid"
#define PID_NAMESPACE_FIRST 0xeffffffcu	/* its inode in every kernel: PROC_PID_INIT_INO */
#define SYMBOLS "/proc/kallsyms"

struct kernel_values {
	struct ftr_opt_list events;	/* arguments of --Event */
	bool has_functions;
	uint64_t depth;			/* 0 = not given */
	uint64_t buffer_bytes;
};

struct kernel_collector {
	const struct ftr_recording *recording;
	struct kernel_values values;
	struct ftr_tracefs_instance instance;
	struct ftr_kernel_events events;
	struct ftr_kernel_pages pages;
	struct ftr_kernel_samples samples;	/* where there is no instance */
};

/* ---- what explains them ---- */

static void header_add(struct kernel_collector *self, struct ftr_uftrace_kernel_header *header,
		       const char *path)
{
	struct ftr_strbuf content;

	ftr_strbuf_init(&content);
	if (ftr_tracefs_read(self->instance.top, path, &content) == 0)
		ftr_uftrace_kernel_header_add(header, path, ftr_strbuf_str(&content), content.len);
	header->text.failed |= content.failed;
	ftr_strbuf_fini(&content);
}

/* Of the kernel, which need not be ours: header_page has a field of it. */
static unsigned kernel_long_bytes(struct kernel_collector *self)
{
	unsigned bytes = sizeof(long);
	struct ftr_strbuf content;
	const char *commit;

	ftr_strbuf_init(&content);
	(void)ftr_tracefs_read(self->instance.top, "events/header_page", &content);
	commit = strstr(ftr_strbuf_str(&content), " commit;");
	if (commit == NULL || sscanf(commit, " commit; offset:%*u; size:%u", &bytes) != 1 ||
	    (bytes != 4 && bytes != 8))
		bytes = sizeof(long);
	ftr_strbuf_fini(&content);
	return bytes;
}

static int header_store(struct kernel_collector *self, size_t page_bytes)
{
	static const char *const always[] = {
		"events/header_page",
		"events/ftrace/funcgraph_entry/format",
		"events/ftrace/funcgraph_exit/format",
	};
	struct ftr_store *store = self->recording->store;
	struct ftr_uftrace_kernel_header header;
	char path[600];
	size_t i;
	int ret;

	ftr_uftrace_kernel_header_init(&header, page_bytes, kernel_long_bytes(self));
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		header_add(self, &header, always[i]);
	for (i = 0; i < self->events.v.nr; i++) {
		snprintf(path, sizeof(path), "%s/format", self->events.v.v[i].path);
		if (self->events.v.v[i].is_on)
			header_add(self, &header, path);
	}
	ret = header.text.failed || header.formats.failed ? -ENOMEM :
	      store->ops->kernel_file(store, FTR_KERNEL_HEADER_FILE, &header.text);
	if (ret == 0 && header.formats.len > 0)
		ret = store->ops->kernel_file(store, FTR_KERNEL_FORMATS_FILE, &header.formats);
	ftr_uftrace_kernel_header_fini(&header);
	return ret;
}

/* Last, with what was loaded meanwhile: it takes its time, and the program waits for none of it. */
static void symbols_store(struct kernel_collector *self)
{
	struct ftr_store *store = self->recording->store;
	struct ftr_strbuf text;

	ftr_strbuf_init(&text);
	if (ftr_tracefs_read(AT_FDCWD, SYMBOLS, &text) == 0)
		(void)store->ops->kernel_file(store, FTR_KERNEL_SYMBOL_FILE, &text);
	ftr_strbuf_fini(&text);
}

/* ---- starting ---- */

/* The kernel's name of the recording's clock; NULL: it has none. */
static const char *clock_name(const struct ftr_recording *recording)
{
	switch ((clockid_t)recording->control->clock_id) {
	case CLOCK_MONOTONIC:
		return "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	default:
		return NULL;
	}
}

static void refused(struct kernel_collector *self, const char *why)
{
	ftr_diag_warn(self->recording->diag, "not recording the kernel's events: %s", why);
}

/* Is there a reason not to ask at all? */
static const char *reason_against(const struct kernel_collector *self)
{
	struct stat st;

	if (self->recording->why_no_events != NULL)
		return strncmp(self->recording->why_no_events, "none: ", 6) == 0 ?
			       self->recording->why_no_events + 6 :
			       self->recording->why_no_events;
	if (clock_name(self->recording) == NULL)
		return "tracefs has no such clock; use --clock=mono, mono_raw or boot";
	if (stat(PID_NAMESPACE, &st) == 0 && st.st_ino != PID_NAMESPACE_FIRST)
		return "it numbers tasks as the host does; run ftr outside of the PID namespace";
	return NULL;
}

static int option_write(struct kernel_collector *self, const char *path, const char *value)
{
	int ret = ftr_tracefs_write(self->instance.dir, path, value);
	char why[120];

	if (ret == 0)
		return 0;
	snprintf(why, sizeof(why), "tracefs: cannot write \"%s\" to %s: %s", value, path,
		 strerror(-ret));
	refused(self, why);
	return ret;
}

static int number_write(struct kernel_collector *self, const char *path, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return option_write(self, path, text);
}

static bool functions_refused(struct kernel_collector *self, const char *why, int code)
{
	ftr_diag_warn(self->recording->diag, "not recording kernel functions: %s%s%s", why,
		      code != 0 ? ": " : "", code != 0 ? strerror(code) : "");
	return false;
}

static void threads_put(struct ftr_strbuf *text, int32_t pid)
{
	size_t nr;
	int32_t *tids = ftr_process_threads(pid, &nr);

	for (size_t i = 0; i < nr; i++)
		ftr_strbuf_printf(text, "%d ", tids[i]);
	free(tids);
}

/* @pid, or all threads of what runs already. */
static int tasks_write(struct kernel_collector *self, const char *path, int32_t pid)
{
	const struct ftr_recording *recording = self->recording;
	struct ftr_strbuf text;
	int ret;

	ftr_strbuf_init(&text);
	if (recording->running_nr == 0)
		ftr_strbuf_printf(&text, "%d", pid);
	for (size_t i = 0; i < recording->running_nr; i++)
		threads_put(&text, recording->running[i]);
	ret = text.failed ? -ENOMEM :
			    ftr_tracefs_write(self->instance.dir, path, ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
	return ret;
}

/* Kernel functions of @pid and its children; where they are refused, events are recorded still. */
static bool functions_start(struct kernel_collector *self, int32_t pid)
{
	const struct ftr_tracefs_instance *instance = &self->instance;
	static const char tracers[] = "available_tracers";
	char depth[24];
	int ret;

	if (!ftr_tracefs_has_word(instance->dir, tracers, GRAPH_TRACER))
		return functions_refused(self,
			ftr_tracefs_has_word(instance->top, tracers, GRAPH_TRACER) ?
				"this kernel has the tracer " GRAPH_TRACER
				" for one user of the machine alone; Linux 6.11 has it for all" :
				"this kernel has no tracer " GRAPH_TRACER
				"; it needs CONFIG_FUNCTION_GRAPH_TRACER", 0);
	snprintf(depth, sizeof(depth), "%" PRIu64, self->values.depth);
	ret = ftr_tracefs_write(instance->dir, "options/function-fork", "1");
	if (ret == 0)
		ret = tasks_write(self, "set_ftrace_pid", pid);
	if (ret == 0)
		ret = ftr_tracefs_write(instance->top, FTR_TRACEFS_GRAPH_DEPTH, depth);
	if (ret == 0)
		ret = ftr_tracefs_write(instance->dir, "current_tracer", GRAPH_TRACER);
	return ret == 0 ||
	       functions_refused(self, "tracefs refuses the tracer " GRAPH_TRACER, -ret);
}

/* Events of @pid and whatever it will make, once it makes it. */
static int tasks_choose(struct kernel_collector *self, int32_t pid)
{
	int ret = option_write(self, "options/event-fork", "1");
	char why[120];

	if (ret < 0)
		return ret;
	ret = tasks_write(self, "set_event_pid", pid);
	if (ret == 0)
		return 0;
	snprintf(why, sizeof(why), "tracefs: cannot write its threads to set_event_pid: %s",
		 strerror(-ret));
	refused(self, why);
	return ret;
}

static void state_add(const struct kernel_collector *self, size_t on_nr)
{
	static const char none[] = "none: --no-event";
	char *text = self->recording->events_text;
	size_t len;

	if (text == NULL)
		return;
	if (strcmp(text, none) == 0)
		text[0] = '\0';
	len = strlen(text);
	if (on_nr > 0)
		snprintf(text + len, FTR_EVENTS_TEXT_BYTES - len, "%s%zu of the kernel's",
			 len > 0 ? ", " : "", on_nr);
	len = strlen(text);
	if (self->values.has_functions)
		snprintf(text + len, FTR_EVENTS_TEXT_BYTES - len, "%skernel functions",
			 len > 0 ? ", " : "");
}

/* What is refused is warned about.  -errno: there is nothing to record. */
static int instance_start(struct kernel_collector *self, int32_t pid)
{
	struct ftr_diag *diag = self->recording->diag;
	size_t on_nr;
	int ret;

	ret = option_write(self, "trace_clock", clock_name(self->recording));
	if (ret == 0)
		ret = number_write(self, "buffer_size_kb",
				   (self->values.buffer_bytes + FTR_KIB(1) - 1) / FTR_KIB(1));
	if (ret == 0)
		ret = tasks_choose(self, pid);
	if (ret == 0)
		ret = ftr_kernel_events_find(&self->events, self->instance.dir,
					     &self->values.events, diag);
	if (ret < 0)
		return ret;
	on_nr = ftr_kernel_events_start(&self->events, self->instance.dir, diag);
	self->values.has_functions = self->values.has_functions && functions_start(self, pid);
	if (on_nr == 0 && !self->values.has_functions)
		return -ENOENT;
	ret = ftr_kernel_pages_open(&self->pages, self->recording->store, self->instance.dir,
				    self->values.buffer_bytes);
	if (ret < 0)
		refused(self, strerror(-ret));
	if (ret == 0)
		ret = header_store(self, self->pages.page_bytes); /* the store says why it failed */
	if (ret == 0)
		ret = option_write(self, "tracing_on", "1");
	if (ret == 0)
		state_add(self, on_nr);
	return ret;
}

static void instance_stop(struct kernel_collector *self)
{
	ftr_kernel_pages_close(&self->pages);	/* an instance whose files are open stays */
	ftr_tracefs_instance_close(&self->instance);
}

static void samples_stop(struct kernel_collector *self)
{
	ftr_kernel_samples_close(&self->samples);
	if (self->instance.top >= 0)
		close(self->instance.top);
	self->instance.top = -1;
}

/* By perf, with its permissions; -errno with a description: it does not help. */
static int samples_open(struct kernel_collector *self, int32_t pid, struct ftr_err *err)
{
	const struct ftr_recording *recording = self->recording;
	int ret = ftr_tracefs_open(err);

	if (ret < 0)
		return ret;
	self->instance.top = ret;
	if (recording->running_nr != 0)
		return ftr_err_set(err, ENOTSUP, "perf: it is for programs that ftr starts");
	if (recording->control->clock_id == CLOCK_BOOTTIME)
		return ftr_err_set(err, EINVAL, "perf: it has no such clock for them; use "
				   "--clock=mono or mono_raw");
	if (kernel_long_bytes(self) != sizeof(uint64_t))
		return ftr_err_set(err, ENOTSUP, "perf: the kernel is one of 32 bits");
	if (ftr_kernel_events_find(&self->events, self->instance.top, &self->values.events,
				   recording->diag) < 0)
		return ftr_err_set(err, ENOMEM, "out of memory");
	if (self->events.v.nr == 0)
		return ftr_err_set(err, ENOENT, "perf: it knows no functions, and no events");
	return ftr_kernel_samples_open(&self->samples, recording->store, self->instance.top,
				       &self->events, recording->is_program_self ? pid : 0,
				       (clockid_t)recording->control->clock_id,
				       self->values.buffer_bytes, recording->diag, err);
}

/* @why_no_instance: tracefs gives none. */
static void samples_start(struct kernel_collector *self, int32_t pid, const char *why_no_instance)
{
	struct ftr_err err = { 0 };
	char why[2 * sizeof(err.text)];
	int on_nr = samples_open(self, pid, &err);

	if (on_nr <= 0) {
		snprintf(why, sizeof(why), "%.390s; %.390s", why_no_instance, err.text);
		/* Where tracefs cannot be read at all, that is why there is no instance. */
		refused(self, strcmp(err.text, why_no_instance) == 0 ? why_no_instance : why);
		samples_stop(self);
		return;
	}
	if (header_store(self, FTR_KERNEL_SAMPLES_PAGE_BYTES) < 0) {
		samples_stop(self);
		return;
	}
	if (self->values.has_functions)
		functions_refused(self, why_no_instance, 0);
	self->values.has_functions = false;
	state_add(self, (size_t)on_nr);
}

static void start(struct kernel_collector *self, int32_t pid)
{
	const char *why = reason_against(self);
	struct ftr_err err = { 0 };

	if (why != NULL)
		refused(self, why);
	else if (ftr_tracefs_instance_open(&self->instance, self->values.has_functions, &err) < 0)
		samples_start(self, pid, err.text);
	else if (instance_start(self, pid) < 0)
		instance_stop(self);
}

/* ---- options ---- */

/* Names that are not the kernel's are another collector's. */
static int check_events(const char *arg, struct ftr_err *err)
{
	struct ftr_event_word word;
	const char *at = arg;

	while (ftr_event_word_next(&at, &word)) {
		if (word.is_kernel &&
		    (word.name.len == 0 || memchr(word.name.s, ':', word.name.len) == NULL))
			return ftr_err_set(err, EINVAL,
					   "\"%.*s@kernel\": name it as SYSTEM:EVENT@kernel, such "
					   "as sched:*@kernel",
					   (int)word.name.len, word.name.s);
	}
	return 0;
}

#define ROW(name_, letter_, arg_, help_, parse_, member_, ...) \
	FTR_OPTION(name_, letter_, arg_, help_, parse_, struct kernel_values, member_, \
		   ##__VA_ARGS__)

static const struct ftr_option kernel_options[] = {
	ROW("Event", 'E', "EVENT",
	    "Record events of the kernel: SYSTEM:EVENT@kernel, \" if FILTER\" may follow; * stands "
	    "for any text; see --list-event",
	    ftr_opt_list, events, .check = check_events),
	ROW("kernel", 'k', NULL,
	    "Record kernel functions, too: those that the program's calls enter", ftr_opt_flag,
	    has_functions),
	ROW("kernel-depth", 'K', "DEPTH", "Record DEPTH levels of kernel functions (implies -k)",
	    ftr_opt_u64, depth, .min = 1, .max = DEPTH_MAX),
	ROW("kernel-buffer", 0, "SIZE", "Size of the kernel's buffer on each CPU (default: 1408K)",
	    ftr_opt_size, buffer_bytes, .min = FTR_KIB(4), .max = BUFFER_MAX_BYTES),
	{ 0 }
};

static const struct kernel_values kernel_defaults = { .buffer_bytes = BUFFER_BYTES };

static int kernel_list(struct ftr_strbuf *text, struct ftr_err *err)
{
	int dir = ftr_tracefs_open(err);
	int ret;

	if (dir < 0)
		return dir;
	ret = ftr_kernel_events_list(dir, text);
	close(dir);
	return ret < 0 ? ftr_err_set(err, -ret, "tracefs: %s; run ftr as root", strerror(-ret)) : 0;
}

/* ---- the collector ---- */

/* Is any of the words that were given the kernel's? */
static bool names_kernel(const struct ftr_opt_list *given)
{
	struct ftr_event_word word;

	for (size_t i = 0; i < given->nr; i++) {
		const char *at = given->v[i];

		while (ftr_event_word_next(&at, &word)) {
			if (word.is_kernel)
				return true;
		}
	}
	return false;
}

static bool is_asked(const struct kernel_collector *self)
{
	return self->values.has_functions || names_kernel(&self->values.events);
}

static void *kernel_open(const struct ftr_recording *recording, const void *values,
			 struct ftr_err *err)
{
	struct kernel_collector *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "kernel collector: out of memory");
		return NULL;
	}
	self->recording = recording;
	self->instance = (struct ftr_tracefs_instance)FTR_TRACEFS_INSTANCE_NONE;
	self->pages = (struct ftr_kernel_pages)FTR_KERNEL_PAGES_NONE;
	self->samples = (struct ftr_kernel_samples)FTR_KERNEL_SAMPLES_NONE;
	self->values = values != NULL ? *(const struct kernel_values *)values : kernel_defaults;
	self->values.has_functions |= self->values.depth != 0;
	if (self->values.depth == 0)
		self->values.depth = 1;
	if (is_asked(self) && !recording->is_program_self && recording->running_nr == 0)
		start(self, getpid());
	return self;
}

/* The program was made by us, so it is chosen as we are.  What we do from now on is ours alone. */
static void kernel_started(void *arg, int32_t pid)
{
	struct kernel_collector *self = arg;
	bool starts = self->recording->is_program_self || self->recording->running_nr != 0;
	char own[16];

	if (starts && is_asked(self))
		start(self, pid);
	if (starts || self->instance.dir < 0)
		return;
	/* Before Linux 5.8 there is no such file: readers leave our own events out. */
	snprintf(own, sizeof(own), "%d", getpid());
	(void)ftr_tracefs_write(self->instance.dir, "set_event_notrace_pid", own);
	if (self->values.has_functions)
		(void)ftr_tracefs_write(self->instance.dir, "set_ftrace_notrace_pid", own);
}

static void kernel_watch(void *arg, int epoll_fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET,
				     .data.u64 = FTR_COLLECTOR_EPOLL_TAG };
	struct kernel_collector *self = arg;

	for (size_t i = 0; i < self->pages.cpus.nr; i++)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, self->pages.cpus.v[i].fd, &event);
	ftr_kernel_samples_watch(&self->samples, epoll_fd);
}

static unsigned kernel_drain(void *arg)
{
	struct kernel_collector *self = arg;

	if (self->samples.store != NULL)
		return ftr_kernel_samples_drain(&self->samples);
	return ftr_kernel_pages_drain(&self->pages);
}

static void kernel_close(void *arg)
{
	struct kernel_collector *self = arg;

	if (self->instance.dir >= 0) {
		(void)ftr_tracefs_write(self->instance.dir, "tracing_on", "0");
		ftr_kernel_pages_end(&self->pages);
		symbols_store(self);
	}
	if (self->samples.store != NULL) {
		ftr_kernel_samples_end(&self->samples);
		symbols_store(self);
		samples_stop(self);
	}
	instance_stop(self);
	ftr_kernel_events_fini(&self->events);
	free(self);
}

const struct ftr_collector ftr_collector_kernel = {
	.name	      = "kernel",
	.options      = kernel_options,
	.values_bytes = sizeof(struct kernel_values),
	.defaults     = &kernel_defaults,
	.list	      = kernel_list,
	.open	      = kernel_open,
	.started      = kernel_started,
	.watch	      = kernel_watch,
	.close	      = kernel_close,
	.drain	      = kernel_drain,
};
