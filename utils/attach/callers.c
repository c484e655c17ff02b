/* SPDX-License-Identifier: MIT */
/*
 * See callers.h.  A step counts only where there is call frame information for it, where the stack
 * falls, and where what is returned to is behind a call.  libunwind by itself would go on by guess.
 */
#include "utils/attach/callers.h"

#include "arch/task_regs.h"
#include "utils/attach/remote.h"
#include "utils/attach/steps.h"
#include "utils/attach/words.h"
#include "utils/base/vec.h"

#define FRAMES_MAX 65536u
#define KNOWN_MAX 4096u
#define OURS_WORDS 4096u		/* of one frame of the runtime */
#define WORD sizeof(uint64_t)

struct walk {
	struct ftr_places *places;
	void (*take)(void *arg, uint64_t addr);
	void *arg;
	bool is_learning;
	struct ftr_steps *steps;	/* (owned) */
	uint64_t ip, sp;
	bool is_leaf;			/* this frame's function has no call under way */
	struct ftr_place_range range;	/* of the code that the information of this frame is for */
	FTR_VEC(uint64_t) handlers;	/* where the return addresses of those on the way are */
	bool is_handler_missed;
};

static void address_take(const struct walk *walk, uint64_t addr)
{
	walk->take(walk->arg, addr);
}

static bool is_code(const struct walk *walk, uint64_t addr)
{
	const struct ftr_vma *vma = ftr_image_at(walk->places->image, addr);

	return vma != NULL && strchr(vma->prot, 'x') != NULL;
}

/* The first instruction that it does next, and a system call before it, which may be made again. */
static void interrupted_take(const struct walk *walk)
{
	address_take(walk, walk->ip);
	address_take(walk, walk->ip - FTR_ARCH_CALL_BEHIND);
}

static bool information_learn(struct walk *walk)
{
	struct ftr_place_known known = { .ip = walk->ip };

	if (!walk->is_learning || !ftr_steps_range(walk->steps, &known.range) ||
	    walk->places->known.nr == KNOWN_MAX)
		return false;
	walk->range = known.range;
	return ftr_vec_push(&walk->places->known, known) == 0;
}

static bool information_find(struct walk *walk)
{
	const struct ftr_places *places = walk->places;
	size_t i;

	for (i = 0; i < places->known.nr; i++) {
		if (places->known.v[i].ip == walk->ip) {
			walk->range = places->known.v[i].range;
			return true;
		}
	}
	return is_code(walk, walk->ip) && information_learn(walk);
}

/* A hook has other addresses on its stack than what it returns to: that of moved code, say. */
static bool ours_take(const struct walk *walk, uint64_t low, uint64_t high)
{
	uint64_t words[OURS_WORDS];
	size_t nr, i;

	low = (low & ~(WORD - 1)) - WORD;
	nr = (high - low) / WORD;
	if (high < low || nr > OURS_WORDS ||
	    !ftr_memory_read(walk->places->image->pid, low, words, nr * WORD))
		return false;
	for (i = 0; i < nr; i++)
		address_take(walk, words[i]);
	return true;
}

static bool is_on_one_stack(const struct walk *walk, uint64_t low, uint64_t high)
{
	const struct ftr_vma *vma = ftr_image_at(walk->places->image, low);

	return vma != NULL && high >= low && high <= vma->high;
}

/* The runtime's own frames may be empty, and its stubs say a caller's address minus one. */
static bool is_left_from_ours(const struct walk *walk, uint64_t sp)
{
	if (!is_on_one_stack(walk, sp, walk->sp) || !is_code(walk, walk->ip) ||
	    !ours_take(walk, sp, walk->sp))
		return false;
	address_take(walk, walk->ip);
	address_take(walk, walk->ip + 1);
	return true;
}

/* A function that calls others keeps on the stack where it returns to. */
static bool is_left_from_function(const struct walk *walk, uint64_t sp)
{
	bool has_frame = FTR_ARCH_CALL_PUSHES || !walk->is_leaf;
	uint8_t code[8];

	if ((walk->sp == sp && has_frame) || !is_on_one_stack(walk, sp, walk->sp) ||
	    !is_code(walk, walk->ip))
		return false;
	address_take(walk, walk->ip);
	/* A stub, whose frame says more; or where a handler returns to, which nobody calls. */
	if (ftr_place_is_ours(walk->places, walk->ip) || walk->ip == walk->places->comeback)
		return true;
	return ftr_memory_read(walk->places->image->pid, walk->ip - sizeof(code), code,
			       sizeof(code)) &&
	       ftr_arch_ends_with_call(code);
}

static bool is_left_from_handler(struct walk *walk, uint64_t sp)
{
	uint64_t at = sp + (uint64_t)FTR_ARCH_HANDLER_AT;

	if (ftr_vec_push(&walk->handlers, at) < 0)
		return false;
	interrupted_take(walk);
	return true;
}

/*
 * 1: there is a caller; 0: that was the first function; -1: nothing is known of it.  Where handlers
 * return to is known by itself: the vdso may have no information for it.
 */
static int step(struct walk *walk)
{
	uint64_t sp = walk->sp;
	bool is_ours = ftr_place_is_ours(walk->places, walk->ip), is_handler, is_left;
	int ret;

	is_handler = ftr_steps_is_handler(walk->steps);
	if (!(is_handler && walk->ip == walk->places->comeback) && !information_find(walk))
		return -1;
	ret = ftr_steps_next(walk->steps);
	if (ret <= 0)
		return ret;
	if (!ftr_steps_position(walk->steps, &walk->ip, &walk->sp))
		return -1;
	is_left = is_handler ? is_left_from_handler(walk, sp) :
		  is_ours ? is_left_from_ours(walk, sp) : is_left_from_function(walk, sp);
	walk->is_leaf = is_handler;
	return is_left ? 1 : -1;
}

/* Nobody calls these: the information says so, and so does the code. */
static bool is_first(const struct walk *walk)
{
	uint64_t entry = walk->places->entry;
	uint8_t code[16];

	return (entry >= walk->range.low && entry < walk->range.high) ||
	       (ftr_memory_read(walk->places->image->pid, walk->ip, code, sizeof(code)) &&
		ftr_arch_is_threads_end(code));
}

static void handler_look(void *arg, uint64_t at, uint64_t ip)
{
	struct walk *walk = arg;
	size_t i;

	for (i = 0; i < walk->handlers.nr; i++) {
		if (walk->handlers.v[i] == at)
			return;
	}
	walk->is_handler_missed |= is_code(walk, ip);
}

/* Were it only of a call that has ended, it could not be told from one that will go on. */
static bool has_other_handlers(struct walk *walk, uint64_t sp)
{
	const struct ftr_words words = {
		.image = walk->places->image, .comeback = walk->places->comeback,
		.interrupted = handler_look, .arg = walk,
	};

	return walk->places->comeback == 0 || !ftr_words_show(&words, sp) ||
	       walk->is_handler_missed;
}

static bool callers_walk(struct walk *walk)
{
	unsigned frames;
	uint64_t sp;
	int ret = 1;

	if (!ftr_steps_position(walk->steps, &walk->ip, &walk->sp) ||
	    !ours_take(walk, walk->sp, walk->sp))
		return false;
	sp = walk->sp;
	walk->is_leaf = true;
	interrupted_take(walk);
	for (frames = 0; ret > 0 && frames < FRAMES_MAX; frames++)
		ret = step(walk);
	return ret == 0 && is_first(walk) && !has_other_handlers(walk, sp);
}

static bool thread_walk(struct walk *walk, pid_t tid)
{
	bool ret;

	walk->steps = ftr_steps_new(walk->places, tid);
	ret = walk->steps != NULL && callers_walk(walk);
	ftr_steps_free(walk->steps);
	ftr_vec_fini(&walk->handlers);
	return ret;
}

static void nothing_take(void *arg, uint64_t addr)
{
}

void ftr_callers_learn(struct ftr_places *places, pid_t tid)
{
	struct walk walk = { .places = places, .take = nothing_take, .is_learning = true };

	thread_walk(&walk, tid);
}

void ftr_callers_forget(struct ftr_places *places)
{
	places->known.nr = 0;
	if (places->steps != NULL)
		ftr_steps_known_forget(places->steps);
}

bool ftr_callers_show(struct ftr_places *places, pid_t tid,
		      void (*take)(void *arg, uint64_t addr), void *arg)
{
	struct walk walk = { .places = places, .take = take, .arg = arg };

	return thread_walk(&walk, tid);
}
