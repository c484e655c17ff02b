/* SPDX-License-Identifier: MIT */
/* The head of the raw listing: the header of the info file. */
#include "utils/view/dump_header.h"

#include "utils/base/bits.h"
#include "utils/base/ostream.h"
#include "utils/trace/info.h"

#include <string.h>

static const char *const features[] = {
	"PLTHOOK", "TASK_SESSION", "KERNEL", "ARGUMENT", "RETVAL", "SYM_REL_ADDR", "MAX_STACK",
	"EVENT", "PERF_EVENT", "AUTO_ARGS", "DEBUG_INFO", "ESTIMATE_RETURN", "SYM_SIZE",
	"CALLSITE",
};

static const char *const infos[] = {
	"EXE_NAME", "EXE_BUILD_ID", "EXIT_STATUS", "CMDLINE", "CPUINFO", "MEMINFO", "OSINFO",
	"TASKINFO", "USAGEINFO", "LOADINFO", "ARG_SPEC", "RECORD_DATE", "PATTERN_TYPE", "VERSION",
	"UTC_OFFSET", "SYSCTL",
	[48] = "FTR_EVENTS",
};

static void put_name(struct ftr_ostream *out, const char *name)
{
	ftr_ostream_printf(out, "uftrace file header: %-13s = ", name);
}

static void put_mask(struct ftr_ostream *out, uint64_t mask, const char *const *names, size_t nr)
{
	const char *separator = " (";

	ftr_ostream_printf(out, "%#llx", (unsigned long long)mask);
	for (size_t i = 0; i < nr; i++) {
		if (!(mask & FTR_BIT64(i)) || names[i] == NULL)
			continue;
		ftr_ostream_printf(out, "%s%s", separator, names[i]);
		separator = " | ";
	}
	ftr_ostream_puts(out, mask != 0 ? ")\n" : "\n");
}

void dump_put_header(const struct ftr_info *info, struct ftr_ostream *out)
{
	static const char magic[8] = "Ftrace!";

	put_name(out, "magic");
	for (size_t i = 0; i < sizeof(magic); i++)
		ftr_ostream_printf(out, "%02x", (unsigned)magic[i]);
	ftr_ostream_putc(out, '\n');
	put_name(out, "version");
	ftr_ostream_printf(out, "%u\n", info->version);
	put_name(out, "header size");
	ftr_ostream_printf(out, "%u\n", info->header_bytes);
	put_name(out, "endian");
	ftr_ostream_printf(out, "%u (%s)\n", info->elf_data,
			   info->elf_data == 2 ? "big" : "little");
	put_name(out, "class");
	ftr_ostream_printf(out, "%u (%d bit)\n", info->elf_class, info->elf_class == 1 ? 32 : 64);
	put_name(out, "features");
	put_mask(out, info->feature_mask, features, sizeof(features) / sizeof(features[0]));
	put_name(out, "info");
	put_mask(out, info->info_mask, infos, sizeof(infos) / sizeof(infos[0]));
	ftr_ostream_putc(out, '\n');
}
