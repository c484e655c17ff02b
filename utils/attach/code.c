/* SPDX-License-Identifier: MIT */
/* See code.h; doc/adr/0088. */
#include "utils/attach/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "utils/attach/words.h"
#include "utils/base/bits.h"
#include "utils/base/clock.h"

#define PAGE 4096u
#define CHUNK_BYTES 65536u
#define CHANGES_MAX FTR_MIB(16)
#define NONE UINT32_MAX
#define TRIES 10u
#define TRIES_BACK 200u
#define TIMEOUTS 3u		/* each is long for the threads that do stop */
#define PAUSE_NS 2000000
#define HASHES 65536u
#define HASH_SHIFT 48		/* of 64 bits */
#define HASH_UNIT 32u		/* bytes, more than a change has */

enum state {
	PENDING,
	MADE,
	GONE,			/* with its library, since they were listed */
	CROSSING,		/* lies on two pages: we might be killed between them */
	CHANGED,
	FAILED,
	UNCHOSEN,
};

struct change {
	const struct ftr_attach_code *code;
	enum state state;
	bool is_in_use;		/* in this round */
	bool is_target;		/* of another one's jump: it is no function's beginning */
	bool is_needed;		/* by one that is still there */
	uint32_t needs;		/* as an index of ours; NONE */
};

struct changes {
	struct ftr_attach_code *codes;
	uint64_t codes_at;	/* in the program */
	uint32_t code_nr;
	struct change *v;	/* by address: those whose library is there */
	uint32_t nr;
	uint32_t *due;		/* indices, of one pass */
	uint32_t due_nr;
	bool *near;		/* HASHES: a change may be near addresses of that hash */
	int memory_fd;
	bool is_back;
	uint8_t chunk[CHUNK_BYTES];
};

/* ---- which they are ---- */

static int change_compare(const void *one, const void *other)
{
	uint64_t a = ((const struct change *)one)->code->addr;
	uint64_t b = ((const struct change *)other)->code->addr;

	return a < b ? -1 : a > b;
}

static uint32_t hash(uint64_t unit)
{
	return (uint32_t)(unit * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT);
}

static void near_set(struct changes *changes, uint64_t addr)
{
	changes->near[hash(addr / HASH_UNIT)] = true;
}

static bool is_near(const struct changes *changes, uint64_t addr)
{
	return changes->near[hash(addr / HASH_UNIT)];
}

/* The last change that does not begin behind @addr; NULL = there is none. */
static struct change *change_at(struct changes *changes, uint64_t addr)
{
	uint32_t low = 0, high = changes->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (changes->v[middle].code->addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &changes->v[low - 1] : NULL;
}

static enum state state_first(const struct ftr_attach_code *code)
{
	if (code->bytes == 0 || code->bytes > FTR_ATTACH_CODE_MAX)
		return FAILED;
	return code->addr / PAGE != (code->addr + code->bytes - 1) / PAGE ? CROSSING : PENDING;
}

static void needs_set(struct changes *changes, struct change *change)
{
	uint32_t needs = change->code->needs;
	const struct change *needed;

	change->needs = NONE;
	if (needs >= changes->code_nr || changes->codes[needs].is_gone)
		return;
	needed = change_at(changes, changes->codes[needs].addr);
	change->needs = (uint32_t)(needed - changes->v);
	changes->v[change->needs].is_target = true;
}

static int address_compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

static bool is_chosen(const struct ftr_code_choice *choice, const struct ftr_attach_code *code)
{
	bool is_one;

	if (choice->are_all)
		return true;
	if (code->is_fixed)
		return !choice->are_others;
	is_one = choice->chosen == NULL ? !code->is_later :
		 bsearch(&code->addr, choice->chosen, choice->chosen_nr, sizeof(code->addr),
			 address_compare) != NULL;
	return is_one != choice->are_others;
}

static void changes_choose(struct changes *changes, const struct ftr_code_choice *choice)
{
	for (uint32_t i = 0; i < changes->nr; i++) {
		if (!is_chosen(choice, changes->v[i].code))
			changes->v[i].state = UNCHOSEN;
	}
}

static void changes_sort(struct changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->code_nr; i++) {
		const struct ftr_attach_code *code = &changes->codes[i];

		if (!code->is_gone)
			changes->v[changes->nr++] = (struct change){
				.code = code, .state = state_first(code) };
	}
	qsort(changes->v, changes->nr, sizeof(changes->v[0]), change_compare);
	for (i = 0; i < changes->nr; i++) {
		const struct ftr_attach_code *code = changes->v[i].code;

		needs_set(changes, &changes->v[i]);
		near_set(changes, code->addr);
		near_set(changes, code->addr + code->bytes - 1u);
	}
}

static const uint8_t *wanted(const struct changes *changes, const struct change *change)
{
	return changes->is_back ? change->code->old : change->code->new;
}

/* Those that are as they shall be already can stay, whoever stands there. */
static void made_skip(struct changes *changes)
{
	uint8_t code[FTR_ATTACH_CODE_MAX];
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		struct change *change = &changes->v[i];
		size_t bytes = change->code->bytes;

		if (change->state == PENDING &&
		    pread(changes->memory_fd, code, bytes, (off_t)change->code->addr) ==
			    (ssize_t)bytes &&
		    memcmp(code, wanted(changes, change), bytes) == 0)
			change->state = MADE;
	}
}

static void changes_free(struct changes *changes)
{
	if (changes == NULL)
		return;
	if (changes->memory_fd >= 0)
		close(changes->memory_fd);
	free(changes->codes);
	free(changes->v);
	free(changes->due);
	free(changes->near);
	free(changes);
}

/* All that takes time or memory is done before threads are stopped.  NULL: there is no memory. */
static struct changes *changes_load(const struct ftr_runtime *runtime,
				    const struct ftr_attach *attach,
				    const struct ftr_code_choice *choice)
{
	struct changes *changes = calloc(1, sizeof(*changes));
	size_t nr = attach->code_nr;
	char path[64];

	if (changes == NULL)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)runtime->image.pid);
	changes->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	changes->codes_at = attach->code;
	changes->code_nr = (uint32_t)nr;
	changes->is_back = choice->is_back;
	changes->codes = calloc(nr, sizeof(*changes->codes));
	changes->v = calloc(nr, sizeof(*changes->v));
	changes->due = calloc(nr, sizeof(*changes->due));
	changes->near = calloc(HASHES, sizeof(*changes->near));
	if (changes->codes == NULL || changes->v == NULL || changes->due == NULL ||
	    changes->near == NULL ||
	    !ftr_memory_read(runtime->image.pid, attach->code, changes->codes,
			     nr * sizeof(*changes->codes))) {
		changes_free(changes);
		return NULL;
	}
	changes_sort(changes);
	changes_choose(changes, choice);
	made_skip(changes);
	return changes;
}

/* Another library may have come to lie there meanwhile.  False: they cannot be read. */
static bool gone_find(const struct ftr_runtime *runtime, struct changes *changes)
{
	uint32_t i;

	if (!ftr_memory_read(runtime->image.pid, changes->codes_at, changes->codes,
			     changes->code_nr * sizeof(*changes->codes)))
		return false;
	for (i = 0; i < changes->nr; i++) {
		if (changes->v[i].code->is_gone && changes->v[i].state == PENDING)
			changes->v[i].state = GONE;
	}
	return true;
}

/* ---- where threads stand ---- */

/*
 * Who is at the first byte of a function has done nothing of it yet; who is at that of a jump that
 * another leads to has.
 */
static void word_take(void *arg, uint64_t word)
{
	struct changes *changes = arg;
	struct change *change;

	if (!is_near(changes, word))
		return;
	change = change_at(changes, word);
	if (change != NULL && word < change->code->addr + change->code->bytes &&
	    (word > change->code->addr || change->is_target))
		change->is_in_use = true;
}

/* The borrowed one is where it was when it was borrowed. */
static bool position_get(const struct ftr_runtime *runtime, pid_t tid, uint64_t *ip, uint64_t *sp)
{
	if (tid != runtime->remote.tid)
		return ftr_remote_position(tid, ip, sp);
	*ip = ftr_remote_was_at(&runtime->remote, sp);
	return true;
}

static bool thread_look(const struct ftr_runtime *runtime, struct changes *changes, pid_t tid)
{
	const struct ftr_words words = {
		.image = &runtime->image, .comeback = runtime->libc.comeback,
		.take = word_take, .arg = changes,
	};
	uint64_t ip, sp;

	if (!position_get(runtime, tid, &ip, &sp))
		return true;		/* it has ended */
	word_take(changes, ip);
	word_take(changes, ip - FTR_ARCH_CALL_BEHIND);	/* where a call is begun again */
	return ftr_words_show(&words, sp);
}

static bool threads_look(const struct ftr_runtime *runtime, struct changes *changes)
{
	bool ret = true;
	size_t i;

	for (i = 0; i < changes->nr; i++)
		changes->v[i].is_in_use = false;
	for (i = 0; ret && i < runtime->tracees.all.nr; i++)
		ret = thread_look(runtime, changes, runtime->tracees.all.v[i].tid);
	return ret;
}

/* ---- writing ---- */

static const uint8_t *expected(const struct changes *changes, const struct change *change)
{
	return changes->is_back ? change->code->new : change->code->old;
}

/* What a copy of its code says has become of it. */
static enum state state_of(const struct changes *changes, const struct change *change,
			   const uint8_t *code)
{
	if (memcmp(code, wanted(changes, change), change->code->bytes) == 0)
		return MADE;
	return memcmp(code, expected(changes, change), change->code->bytes) == 0 ? PENDING :
										     CHANGED;
}

static bool is_due(const struct changes *changes, const struct change *change)
{
	if (change->state != PENDING || change->is_in_use)
		return false;
	if (changes->is_back)
		return !change->is_needed;
	return change->needs == NONE || changes->v[change->needs].state == MADE;
}

/* @leading: those that lead to others, which must be there by then. */
static void due_find(struct changes *changes, bool leading)
{
	uint32_t i;

	changes->due_nr = 0;
	for (i = 0; i < changes->nr; i++)
		changes->v[i].is_needed = false;
	for (i = 0; i < changes->nr; i++) {
		if (changes->v[i].needs != NONE && changes->v[i].state == PENDING)
			changes->v[changes->v[i].needs].is_needed = true;
	}
	for (i = 0; i < changes->nr; i++) {
		if ((changes->v[i].needs != NONE) == leading && is_due(changes, &changes->v[i]))
			changes->due[changes->due_nr++] = i;
	}
}

static struct change *due_at(const struct changes *changes, uint32_t n)
{
	return &changes->v[changes->due[n]];
}

/* Those from @first on that are close enough to be written at once; the one behind them. */
static uint32_t run_end(const struct changes *changes, uint32_t first, size_t *bytes)
{
	uint64_t start = due_at(changes, first)->code->addr, end = start;
	uint32_t n;

	for (n = first; n < changes->due_nr; n++) {
		const struct ftr_attach_code *code = due_at(changes, n)->code;

		if (code->addr < end)
			break;		/* overlapping ones are not made */
		if (n > first && (code->addr - end > PAGE ||
				  code->addr + code->bytes - start > CHUNK_BYTES))
			break;
		end = code->addr + code->bytes;
	}
	*bytes = end - start;
	return n;
}

/* False: they are in the state that they shall be in, or are left. */
static bool run_edit(struct changes *changes, uint32_t first, uint32_t end)
{
	uint64_t start = due_at(changes, first)->code->addr;
	bool ret = false;
	uint32_t n;

	for (n = first; n < end; n++) {
		struct change *change = due_at(changes, n);
		uint8_t *code = changes->chunk + (change->code->addr - start);

		change->state = state_of(changes, change, code);
		if (change->state != PENDING)
			continue;
		memcpy(code, wanted(changes, change), change->code->bytes);
		ret = true;
	}
	return ret;
}

/* Each lies on one page, and a page is written in whole or not at all, even if we are killed. */
static void run_write(struct changes *changes, uint32_t first, uint32_t end, size_t bytes)
{
	uint64_t start = due_at(changes, first)->code->addr;
	ssize_t got;
	uint32_t n;

	if (!run_edit(changes, first, end))
		return;
	got = pwrite(changes->memory_fd, changes->chunk, bytes, (off_t)start);
	for (n = first; n < end; n++) {
		struct change *change = due_at(changes, n);
		size_t at = change->code->addr - start;

		if (change->state == PENDING)
			change->state = got >= (ssize_t)(at + change->code->bytes) ? MADE : FAILED;
	}
}

/* What is not mapped any more was of a library that is unloaded. */
static void run_make(struct changes *changes, uint32_t first, uint32_t end, size_t bytes)
{
	uint64_t start = due_at(changes, first)->code->addr;
	uint32_t n;

	if (pread(changes->memory_fd, changes->chunk, bytes, (off_t)start) == (ssize_t)bytes)
		run_write(changes, first, end, bytes);
	else if (end - first == 1)
		due_at(changes, first)->state = changes->is_back ? CHANGED : FAILED;
	else
		for (n = first; n < end; n++)
			run_make(changes, n, n + 1, due_at(changes, n)->code->bytes);
}

static void pass(struct changes *changes, bool leading)
{
	uint32_t first, end;
	size_t bytes;

	due_find(changes, leading);
	for (first = 0; first < changes->due_nr; first = end) {
		end = run_end(changes, first, &bytes);
		run_make(changes, first, end, bytes);
	}
}

/* What is led to comes before what leads to it, and goes after it. */
static void passes(struct changes *changes)
{
	pass(changes, changes->is_back);
	pass(changes, !changes->is_back);
}

static bool is_any_pending(const struct changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->v[i];

		if (change->state == PENDING &&
		    (change->is_in_use || changes->is_back || change->needs == NONE ||
		     changes->v[change->needs].state == PENDING))
			return true;
	}
	return false;
}

/* ---- rounds ---- */

static void most(uint64_t *all, uint64_t one)
{
	*all = one > *all ? one : *all;
}

/* 0: done; -EAGAIN: some are left, -ETIMEDOUT: some thread does not stop; other -errno. */
static int round_make(struct ftr_runtime *runtime, struct changes *changes,
		      struct ftr_attach_code_report *report)
{
	uint64_t start_ns = ftr_clock_now_ns(CLOCK_MONOTONIC), ns;
	int ret = ftr_tracees_stop(&runtime->tracees);

	ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	report->stop_nr++;
	report->thread_nr = (unsigned)runtime->tracees.all.nr;
	if (ret == 0 && (!gone_find(runtime, changes) || !threads_look(runtime, changes)))
		ret = -EAGAIN;		/* a stack is newer than what we know is mapped */
	else if (ret == 0)
		passes(changes);
	most(&report->work_ns, ftr_clock_now_ns(CLOCK_MONOTONIC) - ns);
	ftr_tracees_release(&runtime->tracees, runtime->remote.tid);
	most(&report->stopped_ns, ftr_clock_now_ns(CLOCK_MONOTONIC) - start_ns);
	return ret == 0 && is_any_pending(changes) ? -EAGAIN : ret;
}

static int rounds_make(struct ftr_runtime *runtime, struct changes *changes,
		       struct ftr_attach_code_report *report, struct ftr_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned tries = changes->is_back ? TRIES_BACK : TRIES, timeouts = 0, i;
	int ret = -EAGAIN;

	for (i = 0; i < tries && timeouts < TIMEOUTS && (ret == -EAGAIN || ret == -ETIMEDOUT);
	     i++) {
		if (i != 0)
			nanosleep(&pause, NULL);
		if (ftr_runtime_look(runtime, err) < 0)
			return -err->code;
		ret = round_make(runtime, changes, report);
		timeouts += ret == -ETIMEDOUT;
	}
	if (ret == 0 || ret == -EAGAIN || ret == -ETIMEDOUT)
		return 0;
	return ftr_err_set(err, -ret, "its threads cannot be stopped: %s", strerror(-ret));
}

static void left_count(struct ftr_attach_code_report *report, const struct change *change)
{
	report->in_use_nr += change->state == PENDING && change->is_in_use;
	report->unstopped_nr += change->state == PENDING && !change->is_in_use;
	report->crossing_nr += change->state == CROSSING;
	report->changed_nr += change->state == CHANGED;
	report->failed_nr += change->state == FAILED;
}

/* A change and one that leads to it are one function's: it is patched when both are made. */
static void made_count(const struct changes *changes, struct ftr_attach_code_report *report)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->v[i];
		bool leads = change->needs != NONE;

		if (leads && changes->v[change->needs].state != MADE)
			continue;
		if (change->state == GONE || change->state == UNCHOSEN)
			continue;
		if (change->state != MADE)
			left_count(report, change);
		if (leads ? change->state != MADE : change->state == MADE)
			report->made_nr += leads ? -1u : 1u;
	}
}

static bool has_pending(const struct changes *changes)
{
	for (uint32_t i = 0; i < changes->nr; i++) {
		if (changes->v[i].state == PENDING)
			return true;
	}
	return false;
}

static unsigned left_nr(const struct changes *changes)
{
	unsigned nr = 0;

	for (uint32_t i = 0; i < changes->nr; i++)
		nr += changes->v[i].state == PENDING && !changes->v[i].is_target;
	return nr;
}

static bool is_any_left(const struct changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		if (changes->v[i].state == PENDING || changes->v[i].state == FAILED)
			return true;
	}
	return false;
}

int ftr_runtime_code(struct ftr_runtime *runtime, const struct ftr_attach *attach,
		     const struct ftr_code_choice *choice, struct ftr_attach_report *report,
		     struct ftr_err *err)
{
	struct changes *changes;
	int ret = 0;

	if (attach->code_nr == 0 || attach->code_nr > CHANGES_MAX)
		return 0;
	changes = changes_load(runtime, attach, choice);
	if (changes == NULL)
		return ftr_err_set(err, ENOMEM, "what is to be patched cannot be read: out of "
				   "memory");
	if (choice->are_all || has_pending(changes))	/* a program that opens may have made it */
		ret = rounds_make(runtime, changes, &report->code, err);
	if (choice->is_back) {
		report->is_partly_left |= is_any_left(changes);
		report->stopped_ns = report->code.stopped_ns;
		report->kept_nr = left_nr(changes);
	} else {
		made_count(changes, &report->code);
	}
	changes_free(changes);
	return ret;
}
