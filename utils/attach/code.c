/* SPDX-License-Identifier: MIT */
/* See code.h; doc/adr/0088. */
#include "utils/attach/code.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/attach/callers.h"
#include "utils/attach/changes.h"
#include "utils/attach/words.h"
#include "utils/base/clock.h"

#define TRIES 10u
#define TRIES_BACK 100u
#define TRIES_OF_WORDS 2u	/* before threads are unwound: most go on */
#define TIMEOUTS 3u		/* each is long for the threads that do stop */

/* ---- where threads stand ---- */

/* A thread, while it is looked at. */
struct look {
	struct ftr_changes *changes;
	bool has_found;
};

static void word_find(void *arg, uint64_t word)
{
	struct look *look = arg;
	const struct ftr_change *change = ftr_changes_in_midst(look->changes, word);

	look->has_found |= change != NULL && change->state == FTR_CHANGE_PENDING;
}

static void word_take(void *arg, uint64_t word)
{
	const struct look *look = arg;
	struct ftr_change *change = ftr_changes_in_midst(look->changes, word);

	if (change != NULL)
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

/* Whatever may be an address on its stacks.  False: they cannot be read. */
static bool words_show(const struct ftr_runtime *runtime, struct look *look, uint64_t ip,
		       uint64_t sp, void (*take)(void *arg, uint64_t word))
{
	const struct ftr_words words = {
		.image = &runtime->image, .comeback = runtime->libc.comeback,
		.take = take, .arg = look,
	};

	take(look, ip);
	take(look, ip - FTR_ARCH_CALL_BEHIND);	/* where a call is begun again */
	return ftr_words_show(&words, sp);
}

/*
 * Most stacks have nothing that could be an address of ours.  Where one has, calls that ended may
 * have left it: then it counts only if it is where the thread will go.
 */
static bool thread_look(struct ftr_runtime *runtime, struct ftr_changes *changes, pid_t tid)
{
	struct look look = { .changes = changes };
	uint64_t ip, sp;

	if (!position_get(runtime, tid, &ip, &sp))
		return true;		/* it has ended */
	if (!words_show(runtime, &look, ip, sp, word_find))
		return false;
	if (!look.has_found)
		return true;
	if (ftr_callers_show(&runtime->places, tid, word_take, &look)) {
		changes->is_unwound = true;
		return true;
	}
	ftr_vec_push(&changes->doubted, tid);	/* without memory its words count again */
	return words_show(runtime, &look, ip, sp, word_take);
}

static bool threads_look(struct ftr_runtime *runtime, struct ftr_changes *changes)
{
	bool ret = true;
	size_t i;

	changes->doubted.nr = 0;
	changes->is_unwound = false;
	for (i = 0; i < changes->nr; i++)
		changes->v[i].is_in_use = false;
	for (i = 0; ret && i < runtime->tracees.all.nr; i++)
		ret = thread_look(runtime, changes, runtime->tracees.all.v[i].tid);
	/* A library that came to lie where another was would have other information. */
	return ret && (!changes->is_unwound || ftr_image_is_now(&runtime->image));
}

/* One after another, while all others run. */
static void doubted_learn(struct ftr_runtime *runtime, const struct ftr_changes *changes)
{
	size_t i;

	for (i = 0; i < changes->doubted.nr; i++) {
		pid_t tid = changes->doubted.v[i];

		if (tid == runtime->remote.tid) {
			ftr_callers_learn(&runtime->places, tid);
		} else if (ftr_tracee_stop(&runtime->tracees, tid) == 0) {
			ftr_callers_learn(&runtime->places, tid);
			ftr_tracee_release(&runtime->tracees, tid);
		}
	}
}

/* ---- writing ---- */

static const uint8_t *expected(const struct ftr_changes *changes, const struct ftr_change *change)
{
	return changes->is_back ? change->code->new : change->code->old;
}

/* What a copy of its code says has become of it. */
static enum ftr_change_state state_of(const struct ftr_changes *changes,
				      const struct ftr_change *change, const uint8_t *code)
{
	if (memcmp(code, ftr_change_wanted(changes, change), change->code->bytes) == 0)
		return FTR_CHANGE_MADE;
	return memcmp(code, expected(changes, change), change->code->bytes) == 0 ?
		       FTR_CHANGE_PENDING : FTR_CHANGE_CHANGED;
}

static bool is_due(const struct ftr_changes *changes, const struct ftr_change *change)
{
	if (change->state != FTR_CHANGE_PENDING || change->is_in_use)
		return false;
	if (changes->is_back)
		return !change->is_needed;
	return change->needs == FTR_CHANGE_NONE ||
	       changes->v[change->needs].state == FTR_CHANGE_MADE;
}

/* @leading: those that lead to others, which must be there by then. */
static void due_find(struct ftr_changes *changes, bool leading)
{
	uint32_t i;

	changes->due_nr = 0;
	for (i = 0; i < changes->nr; i++)
		changes->v[i].is_needed = false;
	for (i = 0; i < changes->nr; i++) {
		const struct ftr_change *change = &changes->v[i];

		if (change->needs != FTR_CHANGE_NONE && change->state == FTR_CHANGE_PENDING)
			changes->v[change->needs].is_needed = true;
	}
	for (i = 0; i < changes->nr; i++) {
		bool leads = changes->v[i].needs != FTR_CHANGE_NONE;

		if (leads == leading && is_due(changes, &changes->v[i]))
			changes->due[changes->due_nr++] = i;
	}
}

static struct ftr_change *due_at(const struct ftr_changes *changes, uint32_t n)
{
	return &changes->v[changes->due[n]];
}

/* Those from @first on that are close enough to be written at once; the one behind them. */
static uint32_t run_end(const struct ftr_changes *changes, uint32_t first, size_t *bytes)
{
	uint64_t start = due_at(changes, first)->code->addr, end = start;
	uint32_t n;

	for (n = first; n < changes->due_nr; n++) {
		const struct ftr_attach_code *code = due_at(changes, n)->code;

		if (code->addr < end)
			break;		/* overlapping ones are not made */
		if (n > first && (code->addr - end > FTR_CHANGES_PAGE ||
				  code->addr + code->bytes - start > FTR_CHANGES_CHUNK_BYTES))
			break;
		end = code->addr + code->bytes;
	}
	*bytes = end - start;
	return n;
}

/* False: they are in the state that they shall be in, or are left. */
static bool run_edit(struct ftr_changes *changes, uint32_t first, uint32_t end)
{
	uint64_t start = due_at(changes, first)->code->addr;
	bool ret = false;
	uint32_t n;

	for (n = first; n < end; n++) {
		struct ftr_change *change = due_at(changes, n);
		uint8_t *code = changes->chunk + (change->code->addr - start);

		change->state = state_of(changes, change, code);
		if (change->state != FTR_CHANGE_PENDING)
			continue;
		memcpy(code, ftr_change_wanted(changes, change), change->code->bytes);
		ret = true;
	}
	return ret;
}

/* Each lies on one page, and a page is written in whole or not at all, even if we are killed. */
static void run_write(struct ftr_changes *changes, uint32_t first, uint32_t end, size_t bytes)
{
	uint64_t start = due_at(changes, first)->code->addr;
	ssize_t got;
	uint32_t n;

	if (!run_edit(changes, first, end))
		return;
	got = pwrite(changes->memory_fd, changes->chunk, bytes, (off_t)start);
	for (n = first; n < end; n++) {
		struct ftr_change *change = due_at(changes, n);
		size_t at = change->code->addr - start;

		if (change->state == FTR_CHANGE_PENDING)
			change->state = got >= (ssize_t)(at + change->code->bytes) ?
						FTR_CHANGE_MADE : FTR_CHANGE_FAILED;
	}
}

/* What is not mapped any more was of a library that is unloaded. */
static void run_make(struct ftr_changes *changes, uint32_t first, uint32_t end, size_t bytes)
{
	uint64_t start = due_at(changes, first)->code->addr;
	uint32_t n;

	if (pread(changes->memory_fd, changes->chunk, bytes, (off_t)start) == (ssize_t)bytes)
		run_write(changes, first, end, bytes);
	else if (end - first == 1)
		due_at(changes, first)->state = changes->is_back ? FTR_CHANGE_CHANGED :
								   FTR_CHANGE_FAILED;
	else
		for (n = first; n < end; n++)
			run_make(changes, n, n + 1, due_at(changes, n)->code->bytes);
}

static void pass(struct ftr_changes *changes, bool leading)
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
static void passes(struct ftr_changes *changes)
{
	pass(changes, changes->is_back);
	pass(changes, !changes->is_back);
}

static bool is_any_pending(const struct ftr_changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->nr; i++) {
		const struct ftr_change *change = &changes->v[i];

		if (change->state == FTR_CHANGE_PENDING &&
		    (change->is_in_use || changes->is_back || change->needs == FTR_CHANGE_NONE ||
		     changes->v[change->needs].state == FTR_CHANGE_PENDING))
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
static int round_make(struct ftr_runtime *runtime, struct ftr_changes *changes,
		      struct ftr_attach_code_report *report)
{
	int ret = ftr_tracees_stop(&runtime->tracees);
	uint64_t ns = ftr_clock_now_ns(CLOCK_MONOTONIC);

	report->stop_nr++;
	report->thread_nr = (unsigned)runtime->tracees.all.nr;
	if (ret == 0 &&
	    (!ftr_changes_find_gone(runtime, changes) || !threads_look(runtime, changes)))
		ret = -EAGAIN;		/* a stack is newer than what we know is mapped */
	else if (ret == 0)
		passes(changes);
	most(&report->work_ns, ftr_clock_now_ns(CLOCK_MONOTONIC) - ns);
	ftr_tracees_release(&runtime->tracees, runtime->remote.tid);
	most(&report->stopped_ns, runtime->tracees.released_ns - runtime->tracees.asked_ns);
	return ret == 0 && is_any_pending(changes) ? -EAGAIN : ret;
}

static int rounds_make(struct ftr_runtime *runtime, struct ftr_changes *changes,
		       struct ftr_attach_code_report *report, struct ftr_err *err)
{
	unsigned tries = changes->is_back ? TRIES_BACK : TRIES, timeouts = 0, i;
	int ret = -EAGAIN;

	for (i = 0; i < tries && timeouts < TIMEOUTS && (ret == -EAGAIN || ret == -ETIMEDOUT);
	     i++) {
		if (i != 0)
			ftr_runtime_pause(i);
		if (ftr_runtime_look(runtime, err) < 0)
			return -err->code;
		if (i >= TRIES_OF_WORDS)
			doubted_learn(runtime, changes);
		ret = round_make(runtime, changes, report);
		timeouts += ret == -ETIMEDOUT;
	}
	if (ret == 0 || ret == -EAGAIN || ret == -ETIMEDOUT)
		return 0;
	return ftr_err_set(err, -ret, "its threads cannot be stopped: %s", strerror(-ret));
}

int ftr_runtime_code(struct ftr_runtime *runtime, const struct ftr_attach *attach,
		     const struct ftr_code_choice *choice, struct ftr_attach_report *report,
		     struct ftr_err *err)
{
	struct ftr_changes *changes;
	int ret = 0;

	if (attach->code_nr == 0 || attach->code_nr > FTR_CHANGES_MAX)
		return 0;
	changes = ftr_changes_load(runtime, attach, choice);
	if (changes == NULL)
		return ftr_err_set(err, ENOMEM, "what is to be patched cannot be read: out of "
				   "memory");
	/* A program that opens libraries may have made it. */
	if (choice->are_all || ftr_changes_are_pending(changes))
		ret = rounds_make(runtime, changes, &report->code, err);
	if (choice->is_back) {
		report->is_partly_left |= ftr_changes_are_left(changes);
		report->stopped_ns = report->code.stopped_ns;
		report->kept_nr = ftr_changes_left_nr(changes);
	} else {
		ftr_changes_count(changes, &report->code);
	}
	ftr_changes_free(changes);
	return ret;
}
