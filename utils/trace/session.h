/* SPDX-License-Identifier: MIT */
/*
 * A session: one program image of a process, exec to exec, and the modules mapped in it over time.
 */
#ifndef FTR_TRACE_SESSION_H
#define FTR_TRACE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/hashmap.h"
#include "utils/base/vec.h"
#include "utils/trace/func.h"

struct ftr_mapping {
	uint64_t start;
	uint64_t end;		/* exclusive */
	uint64_t since_ns;	/* 0 = from the start; else the time of a dlopen */
	struct ftr_module *module;
	bool is_open;		/* end is a guess, until the symbols of the module are there */
	bool is_overlay;	/* no file: its symbols go before those of whatever lies there */
};

struct ftr_session {
	char     sid[17];
	int32_t  pid;
	uint32_t id;		/* dense */
	uint64_t start_ns;
	const char *exename;
	uint64_t stack_end;	/* user addresses end here; above: kernel.  0 = unknown */
	FTR_VEC(struct ftr_mapping) mappings; /* in any order; overlaps are resolved by since_ns */
	FTR_VEC(uint64_t) changes_ns;	/* ascending: when dlopen changed the map */
	struct ftr_hashmap cache;	/* (epoch, address) -> func */
	struct ftr_hashmap libraries;	/* see library.c: name_id + 1 -> module */
	bool has_libraries;
	uint32_t context_base; /* for a reader: first of changes_ns.nr + 1 numbers of its epochs */
};

/* The image that @task ran at @time_ns; NULL = none is known. */
struct ftr_task;
struct ftr_session *ftr_task_session_at(const struct ftr_task *task, uint64_t time_ns);

/* 0 or -ENOMEM.  @since_ns as in struct ftr_mapping. */
int ftr_session_map(struct ftr_session *session, const struct ftr_mapping *mapping);

/* The mapping an address lies in at a time, or NULL. */
struct ftr_mapping *ftr_session_find(const struct ftr_session *session, uint64_t time_ns,
				     uint64_t addr);

/* The same without overlays. */
struct ftr_mapping *ftr_session_find_file(const struct ftr_session *session, uint64_t time_ns,
					  uint64_t addr);

/* Where a module lies at a time, or, where it does not yet, will lie first; NULL = nowhere. */
struct ftr_mapping *ftr_session_find_module(const struct ftr_session *session,
					    const struct ftr_module *module, uint64_t time_ns);

/*
 * An open mapping ends behind the last symbol of its module, which was loaded; a module without
 * any, where the next mapping starts.
 */
void ftr_session_bound(const struct ftr_session *session, struct ftr_mapping *mapping);

/* How many changes of the map happened until @time_ns.  *next_ns: of the one that follows. */
uint32_t ftr_session_epoch(const struct ftr_session *session, uint64_t time_ns, uint64_t *next_ns);

#endif /* FTR_TRACE_SESSION_H */
