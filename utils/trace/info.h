/* SPDX-License-Identifier: MIT */
/* What a trace records of the machine, the program and the recording (uftrace's info file). */
#ifndef FTR_TRACE_INFO_H
#define FTR_TRACE_INFO_H

#include <stdbool.h>
#include <stdint.h>

/* Strings are NULL where unknown.  Numbers with a _known bit in info_mask. */
struct ftr_info {
	uint32_t version;		/* of the file format */
	bool is_packed;			/* to be written: files of records are packed */
	uint16_t header_bytes;
	uint8_t  elf_data;		/* ELFDATA2LSB ... */
	uint8_t  elf_class;
	uint64_t feature_mask;		/* FTR_FEATURE_* */
	uint64_t info_mask;		/* FTR_INFO_* : which of the following are known */
	uint16_t max_stack;

	const char *exename;
	const char *build_id;
	int32_t  exit_status;		/* raw wait status; 65536 = finish trigger */
	const char *cmdline;		/* words, each followed by a blank */
	const char *cpu_desc;
	uint32_t cpus_online, cpus_possible;
	const char *meminfo;		/* "0.1 / 7.4 GB (free / total)" */
	const char *os_kernel, *os_hostname, *os_distro;
	const char *systime, *usrtime;	/* "S.uuuuuu" seconds */
	const char *ctxsw, *maxrss, *pagefault, *iops;
	const char *loadinfo;		/* "A / B / C" */
	const char *argspec, *retspec, *argauto, *retauto, *enumauto;
	bool     auto_args;
	const char *record_date, *elapsed_time;
	const char *pattern_type;
	const char *recorder_version;
	int64_t  utc_offset_s;
	const char *sysctl;
	const char *note;		/* the user's lines about the recording */
	uint32_t overhead_call_ns;	/* ftr's own: tracing takes at most so much of a call */
	uint32_t overhead_caller_ns;	/* and of its caller */
	const char *events; /* ftr's own: which perf events were recorded, or why none */
	uint32_t task_nr;
	const int32_t *tids;		/* task_nr of them */
};

enum ftr_feature {
	FTR_FEATURE_PLTHOOK	    = 1 << 0,
	FTR_FEATURE_TASK_SESSION    = 1 << 1,
	FTR_FEATURE_KERNEL	    = 1 << 2,
	FTR_FEATURE_ARGUMENT	    = 1 << 3,
	FTR_FEATURE_RETVAL	    = 1 << 4,
	FTR_FEATURE_SYM_REL_ADDR    = 1 << 5,
	FTR_FEATURE_MAX_STACK	    = 1 << 6,
	FTR_FEATURE_EVENT	    = 1 << 7,
	FTR_FEATURE_PERF_EVENT	    = 1 << 8,
	FTR_FEATURE_AUTO_ARGS	    = 1 << 9,
	FTR_FEATURE_DEBUG_INFO	    = 1 << 10,
	FTR_FEATURE_ESTIMATE_RETURN = 1 << 11,
	FTR_FEATURE_SYM_SIZE	    = 1 << 12,
	FTR_FEATURE_CALLSITE	    = 1 << 13,
};

enum ftr_info_bit {
	FTR_INFO_EXE_NAME     = 1 << 0,
	FTR_INFO_EXE_BUILD_ID = 1 << 1,
	FTR_INFO_EXIT_STATUS  = 1 << 2,
	FTR_INFO_CMDLINE      = 1 << 3,
	FTR_INFO_CPUINFO      = 1 << 4,
	FTR_INFO_MEMINFO      = 1 << 5,
	FTR_INFO_OSINFO	      = 1 << 6,
	FTR_INFO_TASKINFO     = 1 << 7,
	FTR_INFO_USAGEINFO    = 1 << 8,
	FTR_INFO_LOADINFO     = 1 << 9,
	FTR_INFO_ARG_SPEC     = 1 << 10,
	FTR_INFO_RECORD_DATE  = 1 << 11,
	FTR_INFO_PATTERN_TYPE = 1 << 12,
	FTR_INFO_VERSION      = 1 << 13,
	FTR_INFO_UTC_OFFSET   = 1 << 14,
	FTR_INFO_SYSCTL	      = 1 << 15,
};

/*
 * Sections that only ftr writes: above all of uftrace's, which leave what they do not know alone.
 */
#define FTR_INFO_EVENTS	  (UINT64_C(1) << 48)
#define FTR_INFO_OVERHEAD (UINT64_C(1) << 49)

#endif /* FTR_TRACE_INFO_H */
