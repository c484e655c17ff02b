/* SPDX-License-Identifier: MIT */
/* Parts of the writer of SWAP streams; for swap/write*.c only. */
#ifndef FTR_FORMAT_SWAP_WRITE_H
#define FTR_FORMAT_SWAP_WRITE_H

#include "utils/base/strbuf.h"
#include "utils/format/swap/side.h"
#include "utils/format/swap/write_leak.h"
#include "utils/trace/io.h"
#include "utils/trace/sink.h"

#define SWAP_CPU_UNKNOWN UINT32_MAX
#define SWAP_CALL_NOT_KNOWN UINT32_MAX	/* call type of probes: neither external nor internal */

struct swap_options {
	int time_form;
};

struct swap_task {
	uint32_t cpu;
	bool is_seen;
	FTR_VEC(uint64_t) open;		/* where the functions of open calls begin */
	uint64_t once_caller, once_flag; /* of the begin of a call that has one message, its end */
};

/* A process, by pid: which of its programs was written last. */
struct swap_process {
	const struct ftr_session *session;	/* (nullable: not known) */
	size_t change_nr;			/* changes of its map that were written */
	int32_t pid;
	enum swap_leaks_by leaks;
	bool has_lost;				/* some of its records are not there */
};

/* A function: where it begins in one session. */
struct swap_func {
	const struct ftr_session *session;
	uint64_t addr;
	bool is_placed;
	bool is_made;
};

/* A process or thread, in one sample of the system's state. */
struct swap_system_task {
	uint32_t pid, tid;
	bool is_process;
	uint64_t used_ms;
	uint64_t virtual_bytes, resident_bytes, shared_bytes;	/* of a process */
};

/* The sample whose events come: they are one message, when one comes that is later. */
struct swap_system {
	bool is_open;
	uint64_t time_ns, last_ns;	/* of it, and of the one before; 0 = there is none */
	struct ftr_strbuf side;		/* lines of all counters, for the side file */
	FTR_VEC(float) loads;			/* of processors, percent */
	FTR_VEC(struct swap_system_task) tasks;
	uint64_t memory_bytes, energy_uj;
	uint64_t disks[4], sent_bytes, received_bytes; /* since the one before */
};

struct swap_writer {
	struct ftr_sink base;	/* first: ops receive a pointer to it */
	const struct ftr_trace *trace;
	struct swap_layout layout;
	uint32_t sequence;	/* of the next message */
	int64_t offset_ns;	/* added to all times */
	uint64_t last_ns;
	uint64_t written_bytes;
	bool is_begun;
	struct swap_values values;
	struct ftr_strbuf bytes;
	FTR_VEC(char) room;	/* of strings of values */
	FTR_VEC(struct swap_task) tasks;	/* by task id */
	FTR_VEC(struct swap_func) funcs;	/* by func id */
	struct ftr_hashmap processes;		/* pid -> struct swap_process (owned) */
	FTR_VEC(struct swap_process *) order;	/* of processes, as they appeared */
	FTR_VEC(const struct ftr_session *) programs;	/* of each PROCESS_INFO; NULL: not known */
	struct ftr_strbuf text, cut_text;
	struct ftr_io io;			/* what descriptors lead to */
	struct ftr_strpool series;		/* names of charts; the number is the id + 1 */
	uint32_t series_nr;			/* of these, in the stream */
	struct swap_system system;
	struct swap_leaks leaks;
	uint64_t point_cut_nr, arg_cut_nr, stack_cut_nr, syscall_cut_nr, mark_cut_nr;
};

int swap_no_memory(struct swap_writer *w);
/* Begin a message's values, and add to them. */
void swap_values_begin(struct swap_writer *w);
int swap_put_number(struct swap_writer *w, uint64_t number);
int swap_put_numbers(struct swap_writer *w, const uint64_t *numbers, size_t nr);
int swap_put_text(struct swap_writer *w, const char *s);
int swap_put_arg(struct swap_writer *w, char type, uint64_t number);
/* Write the message that the values make. */
int swap_write(struct swap_writer *w, uint32_t id, uint64_t time_ns);
int swap_write_message(struct swap_writer *w, const struct swap_message *message, uint32_t id,
		       uint64_t time_ns);

/* write_program.c: processes, where functions lie, the side file. */
int swap_write_program(struct swap_writer *w, const struct ftr_event *ev);
int swap_func_addr(struct swap_writer *w, const struct ftr_event *ev, uint64_t *addr);
/* Have the names around @addr in the side file: a value of @ev points there. */
void swap_load_symbols(struct swap_writer *w, const struct ftr_event *ev, uint64_t addr);
int swap_write_ends(struct swap_writer *w);
int swap_write_side(struct swap_writer *w);

/* write_event.c */
struct swap_task *swap_task_get(struct swap_writer *w, const struct ftr_task *task);
int swap_write_event(struct swap_writer *w, const struct ftr_event *ev);

/* write_probe.c: is @ev a point that a message of a probe is for?  That message. */
bool swap_is_of_probe(const struct ftr_event *ev);
int swap_write_probe(struct swap_writer *w, const struct ftr_event *ev);

/* write_chart.c: is @ev of a series that the program records?  Its message. */
bool swap_is_of_chart(const struct ftr_event *ev);
int swap_write_chart(struct swap_writer *w, const struct ftr_event *ev);

/*
 * write_system.c: the first message, which has but a time; what @ev adds to the sample of its time,
 * if it is of one (1, 0, or -errno); the message of the sample.
 */
int swap_write_system_begin(struct swap_writer *w, uint64_t time_ns);
int swap_add_system(struct swap_writer *w, const struct ftr_event *ev);
int swap_write_system(struct swap_writer *w);

/* write_io.c: the message of a call on a file, if it has one at its begin or its end. */
struct swap_api;
int swap_write_io(struct swap_writer *w, const struct ftr_event *ev, const struct swap_api *api);

#endif /* FTR_FORMAT_SWAP_WRITE_H */
