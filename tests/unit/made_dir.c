/* SPDX-License-Identifier: MIT */
/* See made_dir.h. */
#include "tests/unit/made_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "utils/base/bits.h"
#include "utils/base/vec.h"
#include "utils/proto/record.h"
#include "utils/trace/info.h"

#define FUNCS	6u
#define LAYOUT "1000-9000 r-xp 00000000 00:00 0                          /bin/prog\n" \
	       "f000-ff00 rw-p 00000000 00:00 0                          [stack]\n"

/* A record of perf: the task leaves its CPU, or gets one. */
struct switched {
	uint32_t type;
	uint16_t misc, size;
	uint32_t pid, tid;
	uint64_t time_ns;
};

typedef FTR_VEC(struct switched) switched_vec;

struct task_data {
	struct ftr_record records[MADE_RECORDS];
	uint32_t stack[2048];
	size_t nr, depth;
	uint64_t now_ns;
	int tid;
	switched_vec *switches;	/* (nullable) */
};

uint64_t made_random;

uint32_t made_random_below(uint32_t end)
{
	made_random = made_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(made_random >> 33) % end;
}

uint64_t made_seeds(uint64_t all)
{
	const char *text = getenv("FTR_TEST_SEEDS");
	uint64_t nr = text != NULL ? strtoull(text, NULL, 10) : 0;

	return nr == 0 || nr > all ? all : nr;
}

static uint64_t swapped(uint64_t word, bool is_big)
{
	return is_big ? __builtin_bswap64(word) : word;
}

static bool happens(uint32_t one_in)
{
	return one_in != 0 && made_random_below(one_in) == 0;
}

static void add(struct task_data *data, const struct made_story *story, uint64_t word)
{
	data->records[data->nr++] = (struct ftr_record){ swapped(data->now_ns, story->is_big),
							 swapped(word, story->is_big) };
}

static uint64_t func_addr(uint32_t func)
{
	return 0x1100 + 0x100 * (uint64_t)func;
}

static void add_call(struct task_data *data, const struct made_story *story)
{
	bool is_exit = data->depth > 0 &&
		       (data->depth == story->depth_max || made_random_below(2));
	uint32_t func = made_random_below(FUNCS);
	size_t depth;

	if (story->stray != 0 && !happens(story->stray))
		func = (uint32_t)data->depth / 2 % FUNCS;
	if (!is_exit)
		data->stack[data->depth++] = func;
	else
		func = data->stack[--data->depth];
	depth = data->depth - !is_exit;
	if (happens(story->wrong))
		func = (func + 1) % FUNCS;
	if (happens(story->wrong))
		depth += made_random_below(3);
	if (depth > FTR_RECORD_DEPTH_MAX)
		depth = FTR_RECORD_DEPTH_MAX;
	/* Now and then another address of the same function. */
	add(data, story, ftr_record_word(is_exit ? FTR_RECORD_EXIT : FTR_RECORD_ENTRY,
					 (unsigned)depth,
					 func_addr(func) + (happens(story->wrong) ? 4 : 0)));
}

/* A second return of the last function, setjmp, from further out. */
static void add_leap(struct task_data *data, const struct made_story *story)
{
	data->depth = made_random_below((uint32_t)data->depth);
	add(data, story, ftr_record_word(FTR_RECORD_EXIT, (unsigned)data->depth,
					 func_addr(FUNCS - 1)));
}

static void add_switch(struct task_data *data, bool is_out)
{
	const struct switched switched = {
		.type = 14, .misc = is_out ? 0x2000 : 0, .size = sizeof(switched), .pid = 5,
		.tid = (uint32_t)data->tid, .time_ns = data->now_ns,
	};

	assert_int_equal(ftr_vec_push(data->switches, switched), 0);
}

static void add_any(struct task_data *data, const struct made_story *story)
{
	data->now_ns += made_random_below(5);
	if (happens(story->back))
		data->now_ns -= made_random_below(50);
	if (happens(story->jump))
		data->now_ns += FTR_BIT64(33);
	if (data->switches != NULL && happens(story->sleep)) {
		add_switch(data, true);
		data->now_ns += made_random_below(40);
		add_switch(data, false);
	}
	if (happens(story->lost))
		add(data, story, ftr_record_word(FTR_RECORD_LOST, 0, 3));
	else if (happens(story->event))
		add(data, story, ftr_record_word(FTR_RECORD_EVENT, 0,
						 FTR_RECORD_EVENT_STALL_BEGIN +
						 made_random_below(2)));
	else if (happens(story->torn))
		add(data, story, happens(2) ? made_random_below(2) : made_random);
	else if (data->depth > 1 && data->depth < FTR_RECORD_DEPTH_MAX && happens(story->leap))
		add_leap(data, story);
	else
		add_call(data, story);
}

static void task_add(struct ftr_strbuf *packed, const struct made_story *story, int tid,
		     switched_vec *switches)
{
	struct task_data *data = calloc(1, sizeof(*data));
	char name[32];

	assert_non_null(data);
	data->now_ns = 1000 + (uint64_t)tid;
	data->tid = tid;
	data->switches = switches;
	while (data->nr < MADE_RECORDS)
		add_any(data, story);
	snprintf(name, sizeof(name), "%d.dat", tid);
	packed_add(packed, name, data->records,
		   sizeof(data->records) - (happens(story->torn) ? 8 : 0));
	free(data);
}

void made_task(struct ftr_strbuf *packed, const struct made_story *story, int tid)
{
	task_add(packed, story, tid, NULL);
}

void made_tasks(struct ftr_strbuf *packed, const struct made_story *story)
{
	switched_vec all = { 0 };

	task_add(packed, story, 5, &all);
	task_add(packed, story, 6, &all);
	packed_add(packed, "perf-cpu0.dat", all.v, all.nr * sizeof(*all.v));
	ftr_vec_fini(&all);
}

void made_base(struct ftr_strbuf *packed, const struct made_story *story)
{
	static const char tasks[] =
		"SESS timestamp=0.000000001 pid=5 sid=00000000000000aa exename=\"/bin/prog\"\n"
		"TASK timestamp=0.000000002 tid=5 pid=5\nTASK timestamp=0.000000003 tid=6 pid=5\n"
		"DLOP timestamp=0.000003000 tid=5 sid=00000000000000aa base=0 libname=\"/bin/lib\"\n";
	static const char lines[] = "taskinfo:lines=2\ntaskinfo:nr_tid=2\ntaskinfo:tids=5,6\n";
	unsigned char info[40 + sizeof(lines)] = { 'F', 't', 'r', 'a', 'c', 'e', '!', 0 };
	char symbols[FUNCS * 64] = "";

	info[story->is_big ? 11 : 8] = 4;
	info[story->is_big ? 13 : 12] = 40;
	info[14] = story->is_big ? 2 : 1;
	info[15] = 2;
	info[story->is_big ? 23 : 16] = FTR_FEATURE_SYM_REL_ADDR | FTR_FEATURE_TASK_SESSION;
	memcpy(info + 40, lines, sizeof(lines) - 1);
	for (uint32_t i = 0; i < FUNCS; i++)
		snprintf(symbols + strlen(symbols), sizeof(symbols) - strlen(symbols),
			 story->leap > 0 && i == FUNCS - 1 ? "%016x 00000010 T setjmp\n" :
			 "%016x 00000010 T func_%u\n", (unsigned)func_addr(i) - 0x1000, i);
	packed_add(packed, "info", info, sizeof(info) - 1);
	packed_add(packed, "task.txt", tasks, sizeof(tasks) - 1);
	packed_add(packed, "sid-00000000000000aa.map", LAYOUT, sizeof(LAYOUT) - 1);
	packed_add(packed, "prog.sym", symbols, strlen(symbols));
}
