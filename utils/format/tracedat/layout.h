/* SPDX-License-Identifier: MIT */
/* The constants of trace.dat: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5), doc/trace-dat.md. */
#ifndef FTR_FORMAT_TRACEDAT_LAYOUT_H
#define FTR_FORMAT_TRACEDAT_LAYOUT_H

#define TDAT_MAGIC	   "\x17\x08\x44tracing"
#define TDAT_MAGIC_BYTES   10
#define TDAT_TAG_BYTES	   10		/* "flyrecord\0" */
#define TDAT_TAG_OPTIONS   "options  "
#define TDAT_TAG_LATENCY   "latency  "
#define TDAT_TAG_FLYRECORD "flyrecord"

/* Options; of version 7 those from 16 on say where sections are, whose ids are the same. */
enum {
	TDAT_OPTION_DONE	  = 0,
	TDAT_OPTION_DATE	  = 1,
	TDAT_OPTION_CPUSTAT	  = 2,
	TDAT_OPTION_BUFFER	  = 3,
	TDAT_OPTION_TRACECLOCK	  = 4,
	TDAT_OPTION_UNAME	  = 5,
	TDAT_OPTION_HOOK	  = 6,
	TDAT_OPTION_OFFSET	  = 7,
	TDAT_OPTION_CPUCOUNT	  = 8,
	TDAT_OPTION_VERSION	  = 9,
	TDAT_OPTION_PROCMAPS	  = 10,
	TDAT_OPTION_TRACEID	  = 11,
	TDAT_OPTION_TIME_SHIFT	  = 12,
	TDAT_OPTION_GUEST	  = 13,
	TDAT_OPTION_TSC2NSEC	  = 14,
	TDAT_OPTION_STRINGS	  = 15,
	TDAT_OPTION_HEADER_INFO	  = 16,
	TDAT_OPTION_CMDLINES	  = 21,
	TDAT_OPTION_BUFFER_TEXT	  = 22,
	TDAT_OPTION_LAST	  = 25,
};

#define TDAT_SYSTEM_FTRACE "ftrace"	/* of the events whose formats come first */

/* The VERSION option of files by ftr: events of the CPUs from a number on have no CPU. */
#define TDAT_VERSION_PREFIX "ftr "
#define TDAT_VERSION_TASKS  ", tasks as CPUs from "

/*
 * Ends the system of an event of which a file by ftr has the text alone: plug-ins of libtraceevent
 * would look for the fields of sched:sched_switch.  No system of a kernel has a dot.
 */
#define TDAT_TEXT_SUFFIX ".text"

#endif /* FTR_FORMAT_TRACEDAT_LAYOUT_H */
