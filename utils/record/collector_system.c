/* SPDX-License-Identifier: MIT */
/*
 * The collector of the system's state (record --system): the recorder reads files of /proc every so
 * many milliseconds.  The program does nothing for it, and nobody needs a right.  What cannot be
 * read is left out.  doc/adr/0089.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/base/clock.h"
#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/format/uftrace/system.h"
#include "utils/record/collector.h"
#include "utils/record/system_text.h"

#define PERIOD_MS	100
#define PERIOD_MIN_MS	10
#define PERIOD_MAX_MS	1000
#define TEXT_BYTES_MAX	FTR_MIB(4)	/* of a file: a machine with thousands of CPUs has less */
#define POWERCAP	"/sys/class/powercap/intel-rapl:"	/* AMD's, too */
#define PACKAGES_MAX	8		/* of processors, for their energy */
#define PROCESSES_MAX	1024		/* more are not looked at */
#define PROCESS_SHIFT	32		/* of the mark in keys that they are a process's */
#define MS_PER_S	1000
#define NS_PER_MS	1000000

enum { STAT, MEMINFO, LOADAVG, DISKSTATS, NET_DEV, FILES };

static const char *const paths[FILES] = {
	[STAT] = "/proc/stat", [MEMINFO] = "/proc/meminfo", [LOADAVG] = "/proc/loadavg",
	[DISKSTATS] = "/proc/diskstats", [NET_DEV] = "/proc/net/dev",
};

struct system_values {
	uint64_t period_ms;	/* 0 = no samples */
};

/* A process or thread, as it was in the last sample. */
struct known_task {
	uint64_t user, system;
};

struct package {
	int fd;			/* -1: its energy cannot be read */
	uint64_t last, range;	/* microjoules; it begins anew after so many, 0 = not known */
};

struct system_collector {
	const struct ftr_recording *recording;
	uint64_t period_ms;
	int timer_fd;
	int fds[FILES];			/* -1: cannot be read */
	struct package packages[PACKAGES_MAX];
	FTR_VEC(int32_t) pids;		/* of the program's processes that are there */
	int32_t first_pid;		/* of them all, 0 = there was none */
	FTR_VEC(struct ftr_system_cpu) cpus;	/* as in the last sample, by number */
	struct ftr_system_disks disks;
	struct ftr_system_network network;
	struct ftr_hashmap tasks;	/* tid -> struct known_task (owned) */
	FTR_VEC(struct known_task *) known;
	struct ftr_strbuf text;		/* of a file */
	struct ftr_strbuf records;	/* of a sample */
	struct ftr_system_sample sample;
	uint64_t ticks_per_s, page_kb;
	bool is_on, has_last;		/* samples are taken; there was one before */
};

static int parse_system(const struct ftr_option *opt, void *value, const char *arg,
			struct ftr_err *err)
{
	if (arg != NULL && ftr_opt_u64(opt, value, arg, err) < 0)
		return ftr_err_set(err, EINVAL, "\"%s\" is no period: give milliseconds, %d to %d",
				   arg, PERIOD_MIN_MS, PERIOD_MAX_MS);
	if (arg == NULL)
		*(uint64_t *)value = PERIOD_MS;
	return 0;
}

static const struct ftr_option system_options[] = {
	FTR_OPTION("system", 0, "MS",
		   "Note the state of processors, memory, disks, network and the program's "
		   "processes every MS milliseconds (10 to 1000, default: 100)",
		   parse_system, struct system_values, period_ms, .is_arg_optional = true,
		   .min = PERIOD_MIN_MS, .max = PERIOD_MAX_MS),
	{ 0 }
};

/* ---- reading ---- */

/* All of the file from its begin on, in self->text; false: it cannot be read. */
static bool text_read(struct system_collector *self, int fd)
{
	ssize_t nr = 1;

	ftr_strbuf_clear(&self->text);
	while (nr > 0 && self->text.len < TEXT_BYTES_MAX) {
		char *room = ftr_strbuf_room(&self->text, FTR_KIB(4));

		if (room == NULL)
			return false;
		do {
			nr = pread(fd, room, FTR_KIB(4), (off_t)self->text.len);
		} while (nr < 0 && errno == EINTR);
		self->text.len += nr > 0 ? (size_t)nr : 0;
	}
	return nr == 0;
}

static struct ftr_slice text_slice(const struct system_collector *self)
{
	return ftr_slice_make(ftr_strbuf_str(&self->text), self->text.len);
}

/* Said once: it is not read again. */
static void file_drop(struct system_collector *self, unsigned file, const char *why)
{
	ftr_diag_warn(self->recording->diag, "--system: %s: %s: samples are without it",
		      paths[file], why);
	if (self->fds[file] >= 0)
		close(self->fds[file]);
	self->fds[file] = -1;
}

static bool file_read(struct system_collector *self, unsigned file)
{
	if (self->fds[file] < 0)
		return false;
	errno = 0;
	if (text_read(self, self->fds[file]))
		return true;
	file_drop(self, file, errno == 0 ? "too long" : strerror(errno));
	return false;
}

static bool path_read(struct system_collector *self, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_read = fd >= 0 && text_read(self, fd);

	if (fd >= 0)
		close(fd);
	return is_read;
}

/* ---- samples ---- */

static void put(struct system_collector *self, uint32_t id, const uint64_t *values, size_t nr)
{
	uint8_t record[FTR_UFTRACE_SYSTEM_BYTES_MAX];

	self->sample.id = id;
	memcpy(self->sample.values, values, nr * sizeof(values[0]));
	ftr_strbuf_put(&self->records, record, ftr_uftrace_system_record(&self->sample, record));
}

#define PUT(self, id, ...) \
	put(self, FTR_EVENT_ID_SYSTEM_##id, (const uint64_t[]){ __VA_ARGS__ }, \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* How much more than before; what was counted from zero anew counts in full. */
static uint64_t more(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

static uint64_t ms_of(const struct system_collector *self, uint64_t now, uint64_t before)
{
	return more(now, before) * MS_PER_S / self->ticks_per_s;
}

/* A processor that was off may come. */
static void cpus_sample(struct system_collector *self)
{
	struct ftr_slice text = text_slice(self);
	struct ftr_system_cpu cpu;

	while (ftr_system_cpu_next(&text, &cpu)) {
		const struct ftr_system_cpu none = { .nr = UINT64_MAX };
		struct ftr_system_cpu *last;

		while (self->cpus.nr <= cpu.nr) {
			if (ftr_vec_push(&self->cpus, none) < 0)
				return;
		}
		last = &self->cpus.v[cpu.nr];
		self->sample.number = cpu.nr;
		if (last->nr == cpu.nr)	/* a machine may take a little idle time back */
			PUT(self, CPU, ms_of(self, cpu.user, last->user),
			    ms_of(self, cpu.system, last->system),
			    cpu.idle < last->idle ? 0 : ms_of(self, cpu.idle, last->idle));
		*last = cpu;
	}
	self->sample.number = 0;
}

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static void memory_sample(struct system_collector *self)
{
	struct ftr_system_memory memory;

	if (ftr_system_memory_get(text_slice(self), &memory))
		PUT(self, MEMORY, memory.total_kb, memory.used_kb, memory.free_kb,
		    memory.cached_kb, memory.swap_kb);
}

static void load_sample(struct system_collector *self)
{
	struct ftr_system_load load;

	if (ftr_system_load_get(text_slice(self), &load))
		PUT(self, LOAD, bits_of(load.average[0]), bits_of(load.average[1]),
		    bits_of(load.average[2]), load.running, load.tasks);
}

static void disks_sample(struct system_collector *self)
{
	struct ftr_system_disks now, last = self->disks;

	if (!ftr_system_disks_get(text_slice(self), &now))
		return;
	if (self->has_last)
		PUT(self, DISK, more(now.reads, last.reads),
		    more(now.sectors_read, last.sectors_read), more(now.writes, last.writes),
		    more(now.sectors_written, last.sectors_written));
	self->disks = now;
}

static void network_sample(struct system_collector *self)
{
	struct ftr_system_network now, last = self->network;

	if (!ftr_system_network_get(text_slice(self), &now))
		return;
	if (self->has_last)
		PUT(self, NETWORK, more(now.bytes_received, last.bytes_received),
		    more(now.packets_received, last.packets_received),
		    more(now.bytes_sent, last.bytes_sent),
		    more(now.packets_sent, last.packets_sent));
	self->network = now;
}

static void (*const samplers[FILES])(struct system_collector *self) = {
	[STAT] = cpus_sample,	     [MEMINFO] = memory_sample,	   [LOADAVG] = load_sample,
	[DISKSTATS] = disks_sample, [NET_DEV] = network_sample,
};

/* Of all processors, where we may know. */
static void energy_sample(struct system_collector *self)
{
	uint64_t sum = 0, now;
	bool is_there = false;

	for (unsigned i = 0; i < PACKAGES_MAX; i++) {
		struct package *package = &self->packages[i];

		if (package->fd < 0 || !text_read(self, package->fd) ||
		    ftr_parse_u64(ftr_slice_trim(text_slice(self)), 10, &now) < 0)
			continue;
		is_there = true;
		sum += now >= package->last ? now - package->last :
		       package->range > package->last ? package->range - package->last + now : now;
		package->last = now;
	}
	if (is_there && self->has_last)
		PUT(self, ENERGY, sum);
}

/*
 * What it used since it was seen last; what is new, since it began, or if that was before the
 * recording, nothing.  False: out of memory.
 */
static bool task_used(struct system_collector *self, uint32_t tid, bool is_process,
		      const struct ftr_system_task *task, uint64_t ms[2])
{
	uint64_t key = (uint64_t)is_process << PROCESS_SHIFT | tid;
	struct known_task *known = ftr_hashmap_find(&self->tasks, key);

	if (known == NULL) {
		known = calloc(1, sizeof(*known));
		if (known == NULL || ftr_vec_push(&self->known, known) < 0) {
			free(known);
			return false;
		}
		if (ftr_hashmap_set(&self->tasks, key, known) < 0)
			return false;
		if (!self->has_last)
			*known = (struct known_task){ task->user, task->system };
	}
	ms[0] = ms_of(self, task->user, known->user);
	ms[1] = ms_of(self, task->system, known->system);
	*known = (struct known_task){ task->user, task->system };
	return true;
}

static void thread_sample(struct system_collector *self, int32_t pid, const char *tid)
{
	struct ftr_system_task task;
	char path[80];
	uint64_t ms[2];

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, tid);
	if (!path_read(self, path) || !ftr_system_task_get(text_slice(self), &task))
		return;
	self->sample.number = self->sample.tid = (uint32_t)strtoul(tid, NULL, 10);
	if (task_used(self, self->sample.tid, false, &task, ms))
		PUT(self, THREAD, ms[0], ms[1], (unsigned char)task.state);
}

static void threads_sample(struct system_collector *self, int32_t pid)
{
	const struct dirent *entry;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			thread_sample(self, pid, entry->d_name);
	}
	closedir(dir);
}

/* False: it is gone. */
static bool process_sample(struct system_collector *self, int32_t pid)
{
	struct ftr_system_task task;
	uint64_t ms[2], shared = 0;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!path_read(self, path) || !ftr_system_task_get(text_slice(self), &task) ||
	    task.state == 'Z' || task.state == 'X')
		return false;
	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (path_read(self, path))
		(void)ftr_system_shared_get(text_slice(self), &shared);
	self->sample.pid = self->sample.tid = (uint32_t)pid;
	self->sample.number = (uint32_t)pid;
	if (task_used(self, (uint32_t)pid, true, &task, ms))
		PUT(self, PROCESS, ms[0], ms[1], task.virtual_bytes / 1024,
		    task.resident_pages * self->page_kb, shared * self->page_kb, task.threads,
		    (unsigned char)task.state);
	threads_sample(self, pid);
	return true;
}

static void processes_sample(struct system_collector *self)
{
	size_t kept = 0;

	for (size_t i = 0; i < self->pids.nr; i++) {
		int32_t pid = self->pids.v[i];

		if (process_sample(self, pid))
			self->pids.v[kept++] = pid;
	}
	self->pids.nr = kept;
	self->sample.number = 0;
}

/* All of it has one time; what is of no process stands with the first. */
static void state_sample(struct system_collector *self)
{
	struct ftr_store *store = self->recording->store;
	const struct ftr_control *control = self->recording->control;
	struct iovec part;

	ftr_strbuf_clear(&self->records);
	self->sample.time_ns = ftr_clock_now_ns((clockid_t)control->clock_id);
	self->sample.pid = self->sample.tid = (uint32_t)self->first_pid;
	for (unsigned i = 0; i < FILES; i++) {
		if (file_read(self, i))
			samplers[i](self);
	}
	energy_sample(self);
	processes_sample(self);
	self->has_last = true;
	if (self->records.len == 0 || self->records.failed)
		return;
	part = (struct iovec){ self->records.s, self->records.len };
	if (!store->ops->extra(store, FTR_UFTRACE_SYSTEM_NAME, &part, 1))
		self->is_on = false;		/* which was said */
}

/* ---- the collector ---- */

static void packages_open(struct system_collector *self)
{
	for (unsigned i = 0; i < PACKAGES_MAX; i++) {
		struct package *package = &self->packages[i];
		char path[80];

		snprintf(path, sizeof(path), POWERCAP "%u/energy_uj", i);
		package->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (package->fd < 0)
			continue;
		snprintf(path, sizeof(path), POWERCAP "%u/max_energy_range_uj", i);
		if (!path_read(self, path) ||
		    ftr_parse_u64(ftr_slice_trim(text_slice(self)), 10, &package->range) < 0)
			package->range = 0;
	}
}

static int timer_start(struct system_collector *self)
{
	struct itimerspec times = { 0 };

	times.it_interval.tv_sec = (time_t)(self->period_ms / MS_PER_S);
	times.it_interval.tv_nsec = (long)(self->period_ms % MS_PER_S * NS_PER_MS);
	times.it_value = times.it_interval;
	self->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (self->timer_fd < 0 || timerfd_settime(self->timer_fd, 0, &times, NULL) < 0)
		return -errno;
	return 0;
}

static void system_close(void *arg)
{
	struct system_collector *self = arg;

	if (self->is_on)
		state_sample(self);
	for (unsigned i = 0; i < FILES; i++) {
		if (self->fds[i] >= 0)
			close(self->fds[i]);
	}
	for (unsigned i = 0; i < PACKAGES_MAX; i++) {
		if (self->packages[i].fd >= 0)
			close(self->packages[i].fd);
	}
	if (self->timer_fd >= 0)
		close(self->timer_fd);
	for (size_t i = 0; i < self->known.nr; i++)
		free(self->known.v[i]);
	ftr_vec_fini(&self->known);
	ftr_hashmap_fini(&self->tasks);
	ftr_vec_fini(&self->cpus);
	ftr_vec_fini(&self->pids);
	ftr_strbuf_fini(&self->text);
	ftr_strbuf_fini(&self->records);
	free(self);
}

/* Why there can be no samples; NULL = there can. */
static const char *refusal(const struct ftr_recording *recording)
{
	if (recording->why_no_events != NULL)
		return recording->why_no_events + strlen("none: ");
	return recording->store->ops->extra == NULL ? "nothing but sums is kept" : NULL;
}

/* 0 or -errno with a description. */
static int sources_open(struct system_collector *self, struct ftr_err *err)
{
	const char *why = refusal(self->recording);
	int ret;

	if (why != NULL)
		return ftr_err_set(err, EINVAL, "--system: there can be no samples: %s", why);
	ret = timer_start(self);
	if (ret < 0)
		return ftr_err_set(err, -ret, "--system: no timer: %s", strerror(-ret));
	for (unsigned i = 0; i < FILES; i++) {
		self->fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
		if (self->fds[i] < 0)
			file_drop(self, i, strerror(errno));
	}
	packages_open(self);
	self->is_on = true;
	return 0;
}

static void *system_open(const struct ftr_recording *recording, const void *values,
			 struct ftr_err *err)
{
	const struct system_values *given = values;
	struct system_collector *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		ftr_err_set(err, ENOMEM, "system collector: out of memory");
		return NULL;
	}
	self->recording = recording;
	self->period_ms = given == NULL ? 0 : given->period_ms;
	self->timer_fd = -1;
	memset(self->fds, -1, sizeof(self->fds));
	for (unsigned i = 0; i < PACKAGES_MAX; i++)
		self->packages[i].fd = -1;
	ftr_hashmap_init(&self->tasks);
	self->ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	self->page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	if (self->period_ms != 0 && sources_open(self, err) < 0) {
		system_close(self);
		return NULL;
	}
	return self;
}

static void system_process(void *arg, int32_t pid)
{
	struct system_collector *self = arg;

	for (size_t i = 0; i < self->pids.nr; i++) {
		if (self->pids.v[i] == pid)
			return;
	}
	if (self->first_pid == 0)
		self->first_pid = pid;
	if (self->is_on && self->pids.nr < PROCESSES_MAX)
		(void)ftr_vec_push(&self->pids, pid);
}

/* What was before is what differences are of. */
static void system_started(void *arg, int32_t pid)
{
	struct system_collector *self = arg;

	if (!self->is_on)
		return;
	system_process(self, pid);
	state_sample(self);
}

/* By edges: a recording that has ended for want of room reads the timer no more. */
static void system_watch(void *arg, int epoll_fd)
{
	struct system_collector *self = arg;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET,
				     .data.u64 = FTR_COLLECTOR_EPOLL_TAG };

	if (self->is_on)
		(void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, self->timer_fd, &event);
}

/* However many periods have passed: a recorder that comes late takes one sample. */
static unsigned system_drain(void *arg)
{
	struct system_collector *self = arg;
	uint64_t nr;

	if (self->is_on && read(self->timer_fd, &nr, sizeof(nr)) == sizeof(nr))
		state_sample(self);
	return 0;
}

const struct ftr_collector ftr_collector_system = {
	.name	      = "system",
	.options      = system_options,
	.values_bytes = sizeof(struct system_values),
	.open	      = system_open,
	.started      = system_started,
	.watch	      = system_watch,
	.close	      = system_close,
	.process      = system_process,
	.drain	      = system_drain,
};
