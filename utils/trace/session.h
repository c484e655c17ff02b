/* SPDX-License-Identifier: MIT */
/* A session: one program image of a process, exec to exec, and the modules mapped in it over time. */
#ifndef FTR_TRACE_SESSION_H
#define FTR_TRACE_SESSION_H

#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/func.h"

struct ftr_mapping {
	uint64_t start;
	uint64_t end;		/* exclusive */
	uint64_t since_ns;	/* 0 = from the start; else a DLOP line's time */
	struct ftr_module *module;
};

struct ftr_session {
	char     sid[17];
	int32_t  pid;
	uint32_t id;		/* dense */
	uint64_t start_ns;
	const char *exename;
	uint64_t stack_end;	/* user addresses end here; above: kernel.  0 = unknown */
	FTR_VEC(struct ftr_mapping) mappings;	/* sorted by start, then since_ns */
	struct ftr_hashmap cache;	/* address -> func; dropped where a DLOP changes the map */
};

#endif /* FTR_TRACE_SESSION_H */
