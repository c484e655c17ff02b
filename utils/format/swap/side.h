/* SPDX-License-Identifier: MIT */
/*
 * The side file of a stream, FILE.swap.side: lines about what the stream does not say of itself
 * (doc/swap.md).  The original programs told each other so over a second connection.
 */
#ifndef FTR_FORMAT_SWAP_SIDE_H
#define FTR_FORMAT_SWAP_SIDE_H

#include "utils/base/hashmap.h"
#include "utils/base/strbuf.h"
#include "utils/format/swap/codec.h"
#include "utils/trace/system.h"
#include "utils/trace/trace.h"

#define SWAP_SIDE_SUFFIX ".side"

/* Functions without an address of their own are called at addresses that no program has. */
#define SWAP_MADE_BASE	UINT64_C(0x6674720000000000)
#define SWAP_MADE_END	UINT64_C(0x6674730000000000)
#define SWAP_MADE_STEP	16u
#define SWAP_MADE_PATH	"[made]"	/* of the module of these functions */

/* A counter of the system's state, of which a SYSTEM message was made. */
struct swap_side_sample {
	struct ftr_system_sample sample;
	const char *name;		/* (borrowed) "system:cpu3" */
};

struct swap_side {
	bool is_there;
	enum swap_time_form time_form;
	uint32_t cpu_nr;
	int64_t clock_offset_ns;	/* what was added to the times of events */
	FTR_VEC(const char *) sids;	/* (owned; texts in the arena) of each PROCESS_INFO; "" */
	struct ftr_hashmap leaks;	/* pids whose LSAN messages say what requests say */
	FTR_VEC(struct swap_side_sample) samples;
	struct ftr_hashmap sampled;	/* times of samples */
	struct ftr_hashmap symtabs;	/* hash of a module's path -> struct ftr_symtab (owned) */
};

/* Load that of @trace's file, if it is about a stream of @stream_bytes.  0 or -ENOMEM. */
int swap_side_load(struct swap_side *side, struct ftr_trace *trace, uint64_t stream_bytes,
		   struct ftr_err *err);
/* What it says of tasks, once the stream's are known: names, parents, starts. */
int swap_side_tasks(struct ftr_trace *trace, struct ftr_err *err);
/* (handed over) The symbols of the module, NULL = the file has none. */
struct ftr_symtab *swap_side_symtab_take(struct swap_side *side, const char *path);
void swap_side_fini(struct swap_side *side);

/* read_system.c: the line of a counter, and its words back.  -EINVAL: they are no counter's. */
#define SWAP_SAMPLE_WORDS    7
#define SWAP_SAMPLE_NAME_MAX 40
void swap_side_put_sample(struct ftr_strbuf *text, const struct ftr_system_sample *sample);
int swap_side_sample_parse(struct swap_side *side, struct ftr_arena *arena,
			   const struct ftr_slice words[SWAP_SAMPLE_WORDS]);

/* A name on a line: its tabs, newlines and backslashes are written as C would. */
void swap_side_put_name(struct ftr_strbuf *text, const char *name);

#endif /* FTR_FORMAT_SWAP_SIDE_H */
