/* SPDX-License-Identifier: MIT */
/*
 * The info file of a data directory: a 40-byte header and text sections in the order of their bits.
 */
#include "utils/format/uftrace/write_info.h"

#include "utils/format/uftrace/pack_file.h"

#include <stddef.h>
#include <string.h>

#define SECONDS_DEFAULT "0.000000"

struct section {
	uint64_t bit;
	void (*put)(struct ftr_strbuf *sb, const struct ftr_info *info);
};

static const char *text(const char *s)
{
	return s != NULL ? s : "";
}

static const char *seconds(const char *s)
{
	return s != NULL ? s : SECONDS_DEFAULT;
}

static void put_exename(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "exename:%s\n", text(info->exename));
}

static void put_build_id(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "build_id:%s\n", text(info->build_id));
}

static void put_exit_status(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "exit_status:%d\n", info->exit_status);
}

static void put_cmdline(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_puts(sb, "cmdline:");
	for (const char *p = text(info->cmdline); *p != '\0'; p++) {
		if (*p == '"')
			ftr_strbuf_putc(sb, '\\');	/* as uftrace does, nothing else */
		ftr_strbuf_putc(sb, *p);
	}
	ftr_strbuf_putc(sb, '\n');
}

static void put_cpuinfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "cpuinfo:lines=2\ncpuinfo:nr_cpus=%u / %u (online/possible)\n",
			  info->cpus_online, info->cpus_possible);
	ftr_strbuf_printf(sb, "cpuinfo:desc=%s\n", text(info->cpu_desc));
}

static void put_meminfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "meminfo:%s\n", text(info->meminfo));
}

static void put_osinfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "osinfo:lines=3\nosinfo:kernel=%s\n", text(info->os_kernel));
	ftr_strbuf_printf(sb, "osinfo:hostname=%s\n", text(info->os_hostname));
	ftr_strbuf_printf(sb, "osinfo:distro=%s\n", text(info->os_distro));
}

static void put_taskinfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	uint32_t i;

	ftr_strbuf_printf(sb, "taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=",
			  info->task_nr);
	for (i = 0; i < info->task_nr; i++)
		ftr_strbuf_printf(sb, i == 0 ? "%d" : ",%d", info->tids[i]);
	ftr_strbuf_putc(sb, '\n');
}

static void put_usageinfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_puts(sb, "usageinfo:lines=6\n");
	ftr_strbuf_printf(sb, "usageinfo:systime=%s\n", seconds(info->systime));
	ftr_strbuf_printf(sb, "usageinfo:usrtime=%s\n", seconds(info->usrtime));
	ftr_strbuf_printf(sb, "usageinfo:ctxsw=%s\n", text(info->ctxsw));
	ftr_strbuf_printf(sb, "usageinfo:maxrss=%s\n", text(info->maxrss));
	ftr_strbuf_printf(sb, "usageinfo:pagefault=%s\n", text(info->pagefault));
	ftr_strbuf_printf(sb, "usageinfo:iops=%s\n", text(info->iops));
}

static void put_loadinfo(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "loadinfo:%s\n", text(info->loadinfo));
}

/* Old readers demand each auto line once the section is there. */
static void put_argspec(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	unsigned lines = 3 + (info->argspec != NULL) + (info->retspec != NULL) + info->auto_args;

	ftr_strbuf_printf(sb, "argspec:lines=%u\n", lines);
	if (info->argspec != NULL)
		ftr_strbuf_printf(sb, "argspec:%s\n", info->argspec);
	if (info->retspec != NULL)
		ftr_strbuf_printf(sb, "retspec:%s\n", info->retspec);
	ftr_strbuf_printf(sb, "argauto:%s\n", text(info->argauto));
	ftr_strbuf_printf(sb, "retauto:%s\n", text(info->retauto));
	ftr_strbuf_printf(sb, "enumauto:%s\n", text(info->enumauto));
	if (info->auto_args)
		ftr_strbuf_puts(sb, "auto-args:1\n");
}

static void put_record_date(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "record_date:%s\n", text(info->record_date));
	ftr_strbuf_printf(sb, "elapsed_time:%s\n", text(info->elapsed_time));
}

static void put_pattern_type(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "pattern_type:%s\n", text(info->pattern_type));
}

static void put_version(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "uftrace_version:%s\n", text(info->recorder_version));
}

static void put_utc_offset(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "utc_offset:%lld\n", (long long)info->utc_offset_s);
}

static void put_sysctl(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "sysctl:%s\n", text(info->sysctl));
}

static void put_events(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "ftr_events:%s\n", text(info->events));
}

static void put_overhead(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	ftr_strbuf_printf(sb, "ftr_overhead:%u %u\n", info->overhead_call_ns,
			  info->overhead_caller_ns);
}

static const struct section sections[] = {
	{ FTR_INFO_EXE_NAME,     put_exename },
	{ FTR_INFO_EXE_BUILD_ID, put_build_id },
	{ FTR_INFO_EXIT_STATUS,  put_exit_status },
	{ FTR_INFO_CMDLINE,      put_cmdline },
	{ FTR_INFO_CPUINFO,      put_cpuinfo },
	{ FTR_INFO_MEMINFO,      put_meminfo },
	{ FTR_INFO_OSINFO,       put_osinfo },
	{ FTR_INFO_TASKINFO,     put_taskinfo },
	{ FTR_INFO_USAGEINFO,    put_usageinfo },
	{ FTR_INFO_LOADINFO,     put_loadinfo },
	{ FTR_INFO_ARG_SPEC,     put_argspec },
	{ FTR_INFO_RECORD_DATE,  put_record_date },
	{ FTR_INFO_PATTERN_TYPE, put_pattern_type },
	{ FTR_INFO_VERSION,      put_version },
	{ FTR_INFO_UTC_OFFSET,   put_utc_offset },
	{ FTR_INFO_SYSCTL,       put_sysctl },
	{ FTR_INFO_EVENTS,       put_events },
	{ FTR_INFO_OVERHEAD,     put_overhead },
};

/*
 *	0  "Ftrace!\0"		16  feature mask
 *	8  version		24  info mask
 *	12 header bytes		32  max_stack
 *	14 EI_DATA, EI_CLASS	34  zeros
 */
static void put_header(struct ftr_strbuf *sb, const struct ftr_info *info, uint64_t info_mask)
{
	uint8_t header[FTR_UFTRACE_HEADER_BYTES] = "Ftrace!";
	const uint32_t version = FTR_UFTRACE_VERSION |
				 (info->is_packed ? FTR_PACK_VERSION_FLAG : 0);
	const uint16_t bytes = FTR_UFTRACE_HEADER_BYTES;

	memcpy(header + 8, &version, sizeof(version));
	memcpy(header + 12, &bytes, sizeof(bytes));
	header[14] = info->elf_data;
	header[15] = info->elf_class;
	memcpy(header + 16, &info->feature_mask, sizeof(info->feature_mask));
	memcpy(header + 24, &info_mask, sizeof(info_mask));
	memcpy(header + 32, &info->max_stack, sizeof(info->max_stack));
	ftr_strbuf_put(sb, header, sizeof(header));
}

void ftr_uftrace_info_format(struct ftr_strbuf *sb, const struct ftr_info *info)
{
	uint64_t known = 0;
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		known |= sections[i].bit;
	put_header(sb, info, info->info_mask & known);
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (info->info_mask & sections[i].bit)
			sections[i].put(sb, info);
	}
}
