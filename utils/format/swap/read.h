/* SPDX-License-Identifier: MIT */
/* The reading half of the SWAP format. */
#ifndef FTR_FORMAT_SWAP_READ_H
#define FTR_FORMAT_SWAP_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/istream.h"
#include "utils/trace/trace.h"

#include "utils/base/vec.h"
#include "utils/format/swap/side.h"

/* A message of the stream, and how many before it are missing. */
struct swap_place {
	uint64_t offset;	/* of its header */
	uint64_t time_ns;
	uint32_t lost_nr;
};

struct swap_task_places {
	struct ftr_task *task;
	bool is_unordered;
	FTR_VEC(struct swap_place) places;
};

struct swap_reader {
	struct ftr_trace *trace;
	struct ftr_istream in;
	struct swap_side side;
	struct swap_layout layout;
	struct swap_values values;
	FTR_VEC(struct swap_task_places *) tasks;	/* (owned) by task id */
	FTR_VEC(struct ftr_session *) sessions;		/* by time */
	struct ftr_hashmap specs;	/* types of arguments -> struct ftr_argspec, in the arena */
	struct ftr_strbuf types;
	struct ftr_module *kernel;	/* (nullable: nothing is known of it) */
	uint64_t damaged_nr;
	uint64_t stray_nr;	/* messages of a thread that is another process's */
};

/* The header at @p. */
struct swap_header {
	uint32_t id, sequence, len;
	uint64_t time_ns;
};
struct swap_header swap_header_get(const uint8_t *p, const struct swap_reader *r);
/* Decode the message at @p; NULL: it is shown as bytes. */
const struct swap_message *swap_message_decode(struct swap_reader *r, const uint8_t *p,
					       const struct swap_header *header);
/* The number of the field of this name among the decoded values; 0 = it has none. */
uint64_t swap_number(const struct swap_values *values, const char *name);

/* read_source.c */
struct ftr_source *swap_source_new(struct swap_reader *r, struct swap_task_places *of);
/* "task 7/8: text": task 8 of process 7, and *text begins behind it.  False: no task. */
bool swap_error_task(const char *s, int32_t *pid, int32_t *tid, const char **text);

/* The system's state with nothing but its time, which ftr writes first: about nothing. */
bool swap_is_empty_system(const struct swap_values *values);

bool ftr_swap_detect(const char *path, const uint8_t *head, size_t len);
int ftr_swap_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);

#endif /* FTR_FORMAT_SWAP_READ_H */
