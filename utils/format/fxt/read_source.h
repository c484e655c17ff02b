/* SPDX-License-Identifier: MIT */
/* FXT reader: the source, for the files that make its events. */
#ifndef FTR_FORMAT_FXT_READ_SOURCE_H
#define FTR_FORMAT_FXT_READ_SOURCE_H

#include <string.h>

#include "utils/format/fxt/read.h"
#include "utils/format/fxt/read_stack.h"

/* What the refs of a call's header stood for, since tables were changed last. */
struct fxt_known {
	uint64_t refs;		/* fxt_event_refs(); 0 = nothing */
	uint64_t age;			/* the source's when it was found out */
	struct ftr_func *func;
	uint64_t addr, until_ns;	/* of its calls, before that time */
	struct fxt_stack *stack;
};

#define FXT_KNOWN_NR 1024u /* slots, by hash: most traces call fewer functions at a time */

/* An operation or an arrow that began and did not end yet. */
struct fxt_span {
	uint64_t begin_ns;
	struct fxt_span
		*next; /* (nullable) the one of the same id around it; or the next spare one */
};

struct fxt_source {
	struct ftr_source base;
	struct fxt_reader *r;
	struct fxt_stacks stacks;
	struct ftr_hashmap
		spans; /* by kind, name and id: struct fxt_span, that of the last begin */
	struct fxt_span *spare_spans;	/* (nullable) */
	struct ftr_err *err;		/* (borrowed) of the call for the next batch */
	uint64_t offset;		/* of the record that comes next in the file */
	struct ftr_sort_pair order[FTR_SOURCE_BATCH]; /* out of order: the records that come next */
	size_t order_pos, settled_nr,
		order_nr; /* those from settled_nr on wait for others of their time */
	bool has_record;
	bool was_said;			/* by an instant, what a log record may say again */
	unsigned step;			/* of a record that makes several events */
	struct fxt_decoded record;
	struct fxt_known known[FXT_KNOWN_NR];
	uint64_t known_age; /* of what known[] says; another one: table records came between */
	uint8_t *payload_bytes;		/* (owned) */
	size_t payload_used;
	_Alignas(FTR_CACHE_LINE) struct ftr_event evs[FTR_SOURCE_BATCH];
	struct ftr_payload payloads[FTR_SOURCE_BATCH];
};

/* An event of the record's task and time, all else zero. */
static inline void fxt_event_begin(const struct fxt_source *self, struct ftr_event *ev,
				   enum ftr_event_type type)
{
	memset(ev, 0, sizeof(*ev));
	ev->time_ns = self->record.time_ns;
	ev->task = self->record.task;
	ev->type = (uint8_t)type;
}

/* fxt/read_source.c: attach the record's arguments to @ev, the event at index @nr of the batch. */
void fxt_event_args(struct fxt_source *self, struct ftr_event *ev, size_t nr,
		    struct fxt_args_out *out);

/* These make the event at index @nr of the batch: 1 = made, 0 = none, or -ENOMEM. */
/* fxt/read_point.c: an event record that is no duration; a log record. */
int fxt_take_other(struct fxt_source *self, size_t nr, enum fxt_event type);
int fxt_take_log(struct fxt_source *self, size_t nr);
/* fxt/read_switch.c: @step 0: the task that leaves; 1: the one that comes. */
int fxt_take_scheduling(struct fxt_source *self, size_t nr, unsigned step);

/*
 * fxt/read_syscall.c: give the event, of the batch, the record of the system call that it stands
 * for.
 */
void fxt_syscall_set(struct fxt_source *self, struct ftr_event *ev);

#endif /* FTR_FORMAT_FXT_READ_SOURCE_H */
