/* SPDX-License-Identifier: MIT */
/* What of the machine, its limits and a process stands in the way of tracing, with the remedy. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "utils/attach/attach.h"
#include "utils/base/bits.h"
#include "utils/record/budget.h"
#include "utils/record/doctor.h"
#include "utils/record/perf_ring.h"
#include "utils/record/tracefs.h"

#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"
#define SCOPE_NONE 3			/* no process may attach */
#define MEMORY_BYTES FTR_MIB(64)	/* of address space, for the first thread and some more */
#define TEXT_BYTES 512

const char *ftr_doctor_of_text(enum ftr_doctor_of of)
{
	static const char *const texts[FTR_DOCTOR_OFS] = {
		[FTR_DOCTOR_OF_ALL] = "tracing",     [FTR_DOCTOR_OF_CALLS] = "calls",
		[FTR_DOCTOR_OF_NAMES] = "names",     [FTR_DOCTOR_OF_VALUES] = "values",
		[FTR_DOCTOR_OF_EVENTS] = "events",   [FTR_DOCTOR_OF_KERNEL] = "kernel",
		[FTR_DOCTOR_OF_SYSCALLS] = "syscalls", [FTR_DOCTOR_OF_SPEED] = "speed",
	};

	return texts[of];
}

int ftr_doctor_add(struct ftr_doctor *doctor, enum ftr_doctor_of of, const char *fmt, ...)
{
	struct ftr_doctor_obstacle obstacle = { .of = of };
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	obstacle.text = strdup(text);
	if (obstacle.text == NULL || ftr_vec_push(&doctor->obstacles, obstacle) < 0) {
		free(obstacle.text);
		return -ENOMEM;
	}
	return 0;
}

bool ftr_doctor_is_blocked(const struct ftr_doctor *doctor)
{
	for (size_t i = 0; i < doctor->obstacles.nr; i++) {
		if (doctor->obstacles.v[i].of == FTR_DOCTOR_OF_ALL)
			return true;
	}
	return false;
}

/* ---- the machine ---- */

static int events_check(struct ftr_doctor *doctor)
{
	const struct perf_event_attr attr =
		ftr_perf_task_attr(FTR_PERF_ALL, CLOCK_MONOTONIC, FTR_PERF_SINCE_EXEC);
	struct ftr_perf_ring ring;
	char why[200];
	int ret = ftr_perf_ring_open(&ring, &attr, 0, 0);

	if (ret == 0) {
		ftr_perf_ring_close(&ring);
		return 0;
	}
	if (ret == -ENODEV)			/* that processor is off */
		return 0;
	ftr_perf_ring_refusal(why, sizeof(why), -ret);
	return ftr_doctor_add(doctor, FTR_DOCTOR_OF_EVENTS, "no scheduling and task events: %s",
			      why);
}

static int kernel_check(struct ftr_doctor *doctor)
{
	struct ftr_err err = { 0 };
	int fd = ftr_tracefs_open(&err);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return ftr_doctor_add(doctor, FTR_DOCTOR_OF_KERNEL, "no events of the kernel (-E, -k): %s",
			      err.text);
}

static int scope_check(struct ftr_doctor *doctor)
{
	FILE *file = fopen(PTRACE_SCOPE, "re");
	int scope = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%d", &scope) != 1)
		scope = 0;
	fclose(file);
	if (scope < SCOPE_NONE)
		return 0;
	return ftr_doctor_add(doctor, FTR_DOCTOR_OF_SYSCALLS, "no --syscalls: "
			      "kernel.yama.ptrace_scope is %d, which only a reboot changes; boot "
			      "with 2 or less", scope);
}

static int disk_check(struct ftr_doctor *doctor)
{
	struct ftr_budget budget = { 0 };
	struct ftr_err err = { 0 };
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;

	if (dir < 0 || faccessat(AT_FDCWD, ".", W_OK, AT_EACCESS) < 0)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "this directory cannot be written "
				     "to: %s: change to another, or name one with -d",
				     strerror(errno));
	else if (ftr_budget_open(&budget, dir, 0, FTR_BUDGET_KEEP_DEFAULT, &err) < 0)
		ret = ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "%s", err.text);
	else
		ftr_budget_close(&budget);
	if (dir >= 0)
		close(dir);
	return ret;
}

static int limits_check(struct ftr_doctor *doctor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > 1024 * (rlim_t)MEMORY_BYTES)
		return 0;
	return ftr_doctor_add(doctor, FTR_DOCTOR_OF_CALLS, "ulimit -v is %" PRIu64 " KB, of "
			      "which a thread's ring and shadow stack take 1/1024 each: deeply nested calls "
			      "will be lost; raise it", (uint64_t)limit.rlim_cur / FTR_KIB(1));
}

static int clock_check(struct ftr_doctor *doctor)
{
	if (ftr_arch_host->ticks_agree())
		return 0;
	return ftr_doctor_add(doctor, FTR_DOCTOR_OF_SPEED, "the kernel does not count time by the "
			      "time stamp counter, so that calls cost more; boot with "
			      "clocksource=tsc where that is reliable");
}

int ftr_doctor_machine(struct ftr_doctor *doctor)
{
	static int (*const checks[])(struct ftr_doctor *doctor) = {
		disk_check, limits_check, events_check, kernel_check, scope_check, clock_check,
	};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < sizeof(checks) / sizeof(checks[0]); i++)
		ret = checks[i](doctor);
	return ret;
}

/* ---- a process ---- */

int ftr_doctor_attach(struct ftr_doctor *doctor)
{
	struct ftr_err err = { 0 };

	return ftr_attach_check(doctor->pid, &err) < 0 ?
		       ftr_doctor_add(doctor, FTR_DOCTOR_OF_ALL, "%s", err.text) : 0;
}
