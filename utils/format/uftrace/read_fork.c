/* SPDX-License-Identifier: MIT */
/*
 * The stack that a forked child took over: its data begins inside calls whose ENTRY stands in its
 * parent's data only.  One pass over a parent's file answers for all its children.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"
#include "utils/format/uftrace/read.h"
#include "utils/proto/record.h"

#define DEPTH_NR (FTR_RECORD_DEPTH_MAX + 1)

/* The record that a child's data begins with: it returns from fork, or calls something. */
struct first {
	struct uft_task *child;
	uint64_t addr;
	unsigned depth;
	bool is_of_fork;	/* of that call, which was open in the parent; not of a later one */
	bool is_found;		/* the parent's call of fork */
};

struct pass {
	struct uft_reader *reader;
	FTR_VEC(struct first) firsts;	/* by time of fork */
	size_t next;			/* the first whose fork is not behind */
	uint64_t addrs[DEPTH_NR];	/* of the parent's last call at each depth */
	unsigned deepest;		/* entries in it */
};

static bool record_at(const struct uft_reader *reader, const struct ftr_istream *in, size_t pos,
		      struct ftr_record *record)
{
	record->time = ftr_get_u64(in->data + pos, reader->is_big);
	record->word = ftr_get_u64(in->data + pos + 8, reader->is_big);
	return (record->word & FTR_RECORD_MAGIC_MASK) == FTR_RECORD_MAGIC;
}

static bool first_find(const struct uft_reader *reader, struct first *first)
{
	const struct ftr_istream *in = &first->child->in;
	struct uft_pins pins = { .packed = first->child->packed };
	struct ftr_record record;
	bool is_found = false;

	for (size_t pos = 0; pos + sizeof(record) <= in->size && !is_found; pos += 8) {
		uft_pins_need(&pins, pos, pos + sizeof(record));
		is_found = record_at(reader, in, pos, &record) &&
			   ftr_record_type(record.word) <= FTR_RECORD_EXIT;
		uft_pins_pass(&pins, pos);
	}
	uft_pins_release(&pins);
	first->is_of_fork = is_found && (ftr_record_type(record.word) == FTR_RECORD_EXIT ||
					 record.time < first->child->task->start_ns);
	first->addr = is_found ? ftr_record_addr(record.word) : 0;
	first->depth = is_found ? ftr_record_depth(record.word) : 0;
	return first->depth > 0;
}

static int inherited_set(struct uft_task *child, const struct pass *pass, unsigned depth)
{
	if (depth > pass->deepest)
		depth = pass->deepest;
	if (ftr_vec_reserve(&child->inherited, depth) < 0)
		return -ENOMEM;
	if (depth > 0)
		memcpy(child->inherited.v, pass->addrs, depth * sizeof(*pass->addrs));
	child->inherited.nr = depth;
	return 0;
}

/* What the parent's ENTRY means for those children whose fork is still to come. */
static int pass_entry(struct pass *pass, uint64_t addr, unsigned depth)
{
	struct first *first;

	pass->addrs[depth] = addr;
	if (depth + 1 > pass->deepest)
		pass->deepest = depth + 1;
	if (pass->next == pass->firsts.nr)
		return 0;
	first = &pass->firsts.v[pass->next];
	if (!first->is_of_fork || depth != first->depth || addr != first->addr)
		return 0;
	first->is_found = true;
	return inherited_set(first->child, pass, depth);
}

/* Children that were forked before @time_ns without a call of fork in sight. */
static int pass_forks(struct pass *pass, uint64_t time_ns)
{
	int ret = 0;

	while (ret == 0 && pass->next < pass->firsts.nr) {
		struct first *first = &pass->firsts.v[pass->next];

		if (first->child->task->start_ns >= time_ns)
			break;
		if (!first->is_found)
			ret = inherited_set(first->child, pass, first->depth);
		pass->next++;
	}
	return ret;
}

/* Follow the parent's calls until the last fork. */
static int pass_run(struct pass *pass, struct uft_task *parent)
{
	struct ftr_source *source = uft_data_source(pass->reader, parent, NULL);
	struct ftr_event *evs;
	ssize_t nr = -ENOMEM;
	int ret = 0;

	while (ret == 0 && pass->next < pass->firsts.nr && source != NULL &&
	       (nr = ftr_source_next(source, &evs, NULL)) > 0) {
		for (ssize_t i = 0; ret == 0 && i < nr; i++) {
			if (evs[i].type > FTR_EVENT_EXIT)
				continue;
			ret = pass_forks(pass, evs[i].time_ns);
			if (ret == 0 && evs[i].type == FTR_EVENT_ENTRY && evs[i].depth < DEPTH_NR)
				ret = pass_entry(pass, evs[i].call.addr, evs[i].depth);
		}
	}
	ftr_source_free(source);
	if (ret == 0 && nr < 0)
		ret = -ENOMEM;
	return ret < 0 ? ret : pass_forks(pass, UINT64_MAX);
}

static int first_compare(const void *a, const void *b)
{
	const struct first *x = a, *y = b;

	if (x->child->task->start_ns != y->child->task->start_ns)
		return x->child->task->start_ns < y->child->task->start_ns ? -1 : 1;
	return x->child->task->id < y->child->task->id ? -1 : 1;
}

static int children_collect(struct pass *pass, struct uft_task *parent)
{
	for (size_t i = 0; i < parent->children.nr; i++) {
		struct first first = { .child = parent->children.v[i] };

		if (first_find(pass->reader, &first) && ftr_vec_push(&pass->firsts, first) < 0)
			return -ENOMEM;
	}
	if (pass->firsts.nr > 1)
		qsort(pass->firsts.v, pass->firsts.nr, sizeof(*pass->firsts.v), first_compare);
	return 0;
}

static int parent_pass(struct uft_reader *reader, struct uft_task *parent)
{
	struct pass *pass;
	int ret;

	if (parent->is_forks_done)
		return 0;
	parent->is_forks_done = true;
	pass = calloc(1, sizeof(*pass));
	if (pass == NULL)
		return -ENOMEM;
	pass->reader = reader;
	ret = children_collect(pass, parent);
	if (ret == 0 && pass->firsts.nr > 0)
		ret = pass_run(pass, parent);
	ftr_vec_fini(&pass->firsts);
	free(pass);
	return ret;
}

int uft_inherit(struct uft_reader *reader, struct uft_task *task)
{
	FTR_VEC(struct uft_task *) line = { 0 };
	int ret = 0;

	/* Ancestors first; a damaged task.txt may make a ring of them. */
	while (ret == 0 && task->task->parent != NULL && task->task->is_forked) {
		task = ftr_hashmap_find(&reader->task_by_tid, (uint32_t)task->task->parent->tid);
		if (task == NULL || task->is_forks_done || line.nr > reader->tasks.nr)
			break;
		ret = ftr_vec_push(&line, task);
	}
	while (ret == 0 && line.nr > 0)
		ret = parent_pass(reader, line.v[--line.nr]);
	ftr_vec_fini(&line);
	return ret;
}
