/* SPDX-License-Identifier: MIT */
/* The machine, for the info file. */
#include "utils/record/sysinfo.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

static const char *format(struct ftr_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static const char *format(struct ftr_arena *arena, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ftr_arena_strdup(arena, text);
}

/* What follows @key and any of @separators in the first line that starts with @key. */
static bool file_value(const char *path, const char *key, const char *separators, char *value,
		       size_t bytes)
{
	size_t key_len = strlen(key);
	bool is_found = false;
	char line[512];
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return false;
	while (!is_found && fgets(line, sizeof(line), file) != NULL) {
		const char *rest = line + key_len;

		is_found = strncmp(line, key, key_len) == 0 && strchr(separators, *rest) != NULL;
		if (!is_found)
			continue;
		rest += strspn(rest, separators);
		snprintf(value, bytes, "%.*s", (int)strcspn(rest, "\n"), rest);
	}
	fclose(file);
	return is_found;
}

static uint64_t meminfo_kb(const char *key)
{
	unsigned long long kb = 0;
	char value[64];

	if (file_value("/proc/meminfo", key, ": ", value, sizeof(value)))
		sscanf(value, "%llu", &kb);
	return kb;
}

static void machine_cpu(struct ftr_info *info, struct ftr_arena *arena)
{
	char desc[256] = "unknown";

	file_value("/proc/cpuinfo", "model name", "\t: ", desc, sizeof(desc));
	info->cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	info->cpus_possible = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	info->cpu_desc = ftr_arena_strdup(arena, desc);
	info->info_mask |= FTR_INFO_CPUINFO;
}

static void machine_memory(struct ftr_info *info, struct ftr_arena *arena)
{
	double gb = 1024 * 1024;

	info->meminfo = format(arena, "%.1f / %.1f GB (free / total)",
			       (double)meminfo_kb("MemFree") / gb,
			       (double)meminfo_kb("MemTotal") / gb);
	info->info_mask |= FTR_INFO_MEMINFO;
}

static void machine_system(struct ftr_info *info, struct ftr_arena *arena)
{
	char distro[256] = "\"unknown\"";
	struct utsname name;

	if (uname(&name) < 0)
		return;
	if (!file_value("/etc/os-release", "PRETTY_NAME", "=", distro, sizeof(distro)))
		file_value("/usr/lib/os-release", "PRETTY_NAME", "=", distro, sizeof(distro));
	info->os_kernel = format(arena, "%s %s", name.sysname, name.release);
	info->os_hostname = ftr_arena_strdup(arena, name.nodename);
	info->os_distro = ftr_arena_strdup(arena, distro);
	info->info_mask |= FTR_INFO_OSINFO;
}

static void machine_load(struct ftr_info *info, struct ftr_arena *arena)
{
	FILE *file = fopen("/proc/loadavg", "re");
	double load[3];

	if (file == NULL)
		return;
	if (fscanf(file, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3) {
		info->loadinfo = format(arena, "%.02f / %.02f / %.02f", load[0], load[1], load[2]);
		info->info_mask |= FTR_INFO_LOADINFO;
	}
	fclose(file);
}

#define MAPPINGS_DEFAULT 65530u		/* DEFAULT_MAX_MAP_COUNT of Linux */

/* INT_MIN where there is no such file. */
static int sysctl_get(const char *name)
{
	char path[64];
	FILE *file;
	int value = INT_MIN;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	file = fopen(path, "re");
	if (file == NULL)
		return value;
	if (fscanf(file, "%d", &value) != 1)
		value = INT_MIN;
	fclose(file);
	return value;
}

int ftr_sysinfo_paranoid(void)
{
	return sysctl_get("kernel/perf_event_paranoid");
}

uint32_t ftr_sysinfo_mappings_max(void)
{
	int value = sysctl_get("vm/max_map_count");

	return value > 0 ? (uint32_t)value : MAPPINGS_DEFAULT;
}

/* The settings that permit tracing. */
static void machine_sysctl(struct ftr_info *info, struct ftr_arena *arena)
{
	int paranoid = ftr_sysinfo_paranoid();
	int restricted = sysctl_get("kernel/kptr_restrict");

	if (paranoid == INT_MIN || restricted == INT_MIN)
		return;
	info->sysctl = format(arena, "perf_event_paranoid=%d kptr_restrict=%d", paranoid,
			      restricted);
	info->info_mask |= FTR_INFO_SYSCTL;
}

void ftr_sysinfo_machine(struct ftr_info *info, struct ftr_arena *arena)
{
	machine_cpu(info, arena);
	machine_memory(info, arena);
	machine_system(info, arena);
	machine_load(info, arena);
	machine_sysctl(info, arena);
}

void ftr_sysinfo_usage(struct ftr_info *info, struct ftr_arena *arena, const struct rusage *usage)
{
	info->systime = format(arena, "%ld.%06ld", (long)usage->ru_stime.tv_sec,
			       (long)usage->ru_stime.tv_usec);
	info->usrtime = format(arena, "%ld.%06ld", (long)usage->ru_utime.tv_sec,
			       (long)usage->ru_utime.tv_usec);
	info->ctxsw = format(arena, "%ld / %ld (voluntary / involuntary)", usage->ru_nvcsw,
			     usage->ru_nivcsw);
	info->maxrss = format(arena, "%ld", usage->ru_maxrss);
	info->pagefault = format(arena, "%ld / %ld (major / minor)", usage->ru_majflt,
				 usage->ru_minflt);
	info->iops = format(arena, "%ld / %ld (read / write)", usage->ru_inblock,
			    usage->ru_oublock);
	info->info_mask |= FTR_INFO_USAGEINFO;
}

void ftr_sysinfo_time(struct ftr_info *info, struct ftr_arena *arena, int64_t start_s,
		      uint64_t elapsed_ns)
{
	time_t start = (time_t)start_s;
	char date[64] = "";

	if (ctime_r(&start, date) != NULL)
		date[strcspn(date, "\n")] = '\0';
	info->record_date = ftr_arena_strdup(arena, date);
	info->elapsed_time = format(arena, "%llu.%09llu sec",
				    (unsigned long long)(elapsed_ns / NSEC_PER_SEC),
				    (unsigned long long)(elapsed_ns % NSEC_PER_SEC));
	info->info_mask |= FTR_INFO_RECORD_DATE;
}
