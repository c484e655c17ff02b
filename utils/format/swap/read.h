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

#define SWAP_GAP_MAX 1000000u /* a larger step of the sequence number is damage, or a new count */

/* A message of the stream, and how many before it are missing; or a counter of the side file. */
struct swap_place {
	uint64_t offset;	/* of its header; of a counter, behind them all */
	uint64_t time_ns;
	const struct swap_side_sample *sample;	/* (nullable) */
	uint32_t lost_nr;
};

struct swap_task_places {
	struct ftr_task *task;
	bool is_unordered;
	FTR_VEC(struct swap_place) places;
};

struct swap_stream;

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
	struct ftr_hashmap series;	/* of charts: number -> "user:NAME", in the arena */
	struct ftr_module *kernel;	/* (nullable: nothing is known of it) */
	struct swap_stream *stream;	/* (owned, nullable) it is read as it comes */
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

/* The text of the field of this name; NULL = it has none. */
const char *swap_text(const struct swap_values *values, const char *name);

/* read_source.c */
struct ftr_source *swap_source_new(struct swap_reader *r, struct swap_task_places *of);
void swap_source_free(struct ftr_source *source);	/* NULL is fine */

/* For stream.c: a batch of events is made of messages, one after the other. */
struct swap_source;
void swap_source_begin(struct swap_source *source);
bool swap_source_is_full(const struct swap_source *source);
/* Those of the message at @p, which has to stay there until the batch is used.  0 or -ENOMEM. */
int swap_source_add(struct swap_source *source, struct ftr_task *task, const uint8_t *p,
		    uint32_t lost_nr);
ssize_t swap_source_end(struct swap_source *source, struct ftr_event **evs);

/* stream.c: a stream as it comes, from a pipe. */
int swap_stream_open(struct swap_reader *r, struct ftr_err *err);
void swap_stream_free(struct swap_stream *stream);	/* NULL is fine */

/* read.c: whom the decoded message, NULL: one of bytes, is about; NULL = out of memory. */
struct ftr_task *swap_task_of(struct swap_reader *r, const struct swap_message *message);
/* What the decoded messages PROCESS_INFO and PROCESS_MAP say.  0 or -ENOMEM. */
int swap_process_info(struct swap_reader *r, uint64_t time_ns);
int swap_process_map(struct swap_reader *r, uint64_t time_ns);
/* ... and a PROBE_CUSTOM: what a series is called. */
int swap_series_note(struct swap_reader *r);
/* "task 7/8: text": task 8 of process 7, and *text begins behind it.  False: no task. */
bool swap_error_task(const char *s, int32_t *pid, int32_t *tid, const char **text);

/* The system's state with nothing but its time, which ftr writes first: about nothing. */
bool swap_is_empty_system(const struct swap_values *values);

bool ftr_swap_detect(const char *path, const uint8_t *head, size_t len);
int ftr_swap_read(struct ftr_trace *trace, struct ftr_istream *in, struct ftr_err *err);

/* read_system.c: have counters of the side file taken the SYSTEM message's place? */
bool swap_is_sampled(const struct swap_reader *r, uint64_t time_ns);
/* All of them, when all messages have their places.  0 or -ENOMEM. */
int swap_places_add_samples(struct swap_reader *r);
/* Make @ev that counter; its values are appended to @bytes. */
void swap_sample_event(const struct swap_side_sample *line, struct ftr_event *ev,
		       struct ftr_payload *payload, struct ftr_strbuf *bytes);

/* read.c: what is of @task at @place.  0 or -ENOMEM. */
int swap_place_add(struct swap_reader *r, struct ftr_task *task, const struct swap_place *place);

/* read_probe.c: what a message of a probe was made of. */
struct swap_api;
struct ftr_event_kind;
struct swap_probe {
	const struct swap_api *api;
	unsigned nr;			/* of events */
	const struct ftr_event_kind *kinds[2];
};

/* False: it is not one that ftr has written. */
bool swap_probe_find(const struct swap_values *values, uint32_t message, struct swap_probe *probe);
/* Append the values of the event of @kind. */
void swap_probe_values(const struct swap_values *values, const struct swap_probe *probe,
		       const struct ftr_event_kind *kind, struct ftr_strbuf *to);

#endif /* FTR_FORMAT_SWAP_READ_H */
