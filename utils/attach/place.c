/* SPDX-License-Identifier: MIT */
/* See place.h. */
#include "utils/attach/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "utils/attach/remote.h"
#include "utils/attach/steps.h"
#include "utils/attach/words.h"
#include "utils/proto/attach.h"

#define FRAMES_MAX 65536u

#define UNWINDING "_Unwind_"	/* how the names of an unwinder's functions begin */
#define UNWINDING_BYTES 16384u	/* of a stack that it and what it calls may take */
#define MOVED "/memfd:ftr-entries"	/* the runtime's, of moved instructions */

static const char *const libc_names[] = { "libc.so.6", "libc-2.", NULL };
static const char *const linker_names[] = { "ld-linux", "ld-2.", "ld.so", NULL };

/* By name: allocators, what uses the dynamic linker's locks, what begins and ends processes. */
static const char *const locking_names[] = {
	"malloc", "calloc", "realloc", "free", "cfree", "memalign", "aligned_alloc",
	"posix_memalign", "valloc", "pvalloc", "reallocarray", "malloc_trim", "mallopt",
	"malloc_info", "mallinfo", "mallinfo2", "malloc_stats", "malloc_usable_size",
	"dlopen", "dlmopen", "dlclose", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo",
	"dlerror", "dl_iterate_phdr", "_dl_find_object", "pthread_create", "fork", "_Fork",
	"vfork", "posix_spawn", "posix_spawnp", "exit", "_exit", "quick_exit", "abort",
	"pthread_exit", "__cxa_finalize", "__register_atfork", "pthread_atfork", NULL,
};

/* ... and by how it begins: C++'s new and delete. */
static const char *const locking_starts[] = { "_Znw", "_Zna", "_Zdl", "_Zda", NULL };

/* System calls that wait, which nobody makes with such a lock in hand. */
static const uint16_t waiting_calls[] = {
	FTR_ARCH_WAITING_CALLS
	SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_recvfrom, SYS_recvmsg,
	SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_accept, SYS_accept4, SYS_connect,
	SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
	SYS_epoll_pwait2, SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall, SYS_futex,
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_wait4, SYS_waitid,
	SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter, SYS_msgrcv, SYS_msgsnd, SYS_semop,
	SYS_semtimedop, SYS_flock, SYS_sched_yield,
};

static bool is_one_of(const char *name, const char *const *names, bool by_start)
{
	for (; *names != NULL; names++) {
		if (by_start ? strncmp(name, *names, strlen(*names)) == 0 :
			       strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

static bool is_in_file(const struct ftr_places *places, uint64_t ip, const char *const *names)
{
	const struct ftr_vma *vma = ftr_image_at(places->image, ip);
	const char *slash = vma != NULL ? strrchr(vma->path, '/') : NULL;

	return slash != NULL && is_one_of(slash + 1, names, true);
}

bool ftr_place_is_ours(const struct ftr_places *places, uint64_t ip)
{
	const struct ftr_vma *vma = ftr_image_at(places->image, ip);

	return vma != NULL && places->runtime != NULL &&
	       (strcmp(vma->path, places->runtime) == 0 ||
		strncmp(vma->path, MOVED, strlen(MOVED)) == 0);
}

static void symbol_add(void *arg, const char *name, uint64_t addr, uint64_t bytes)
{
	struct ftr_places *places = arg;
	struct ftr_place_range range = { addr, addr + bytes };

	if (strcmp(name, "syscall") == 0 && ftr_place_is_ours(places, addr))
		places->passing = range;
	if (strcmp(name, FTR_ATTACH_FUNCTION) == 0 && ftr_place_is_ours(places, addr))
		places->stepping = range;
	if (strcmp(name, "clone") == 0 && is_in_file(places, addr, libc_names))
		places->cloning = range;
	if (bytes != 0 && strncmp(name, UNWINDING, strlen(UNWINDING)) == 0)
		ftr_vec_push(&places->unwinding, range);
	if (bytes != 0 && (is_one_of(name, locking_names, false) ||
			   is_one_of(name, locking_starts, true)))
		ftr_vec_push(&places->locking, range);
}

/* In the order of their addresses, so that each file is read once. */
static int symbols_find(struct ftr_places *places, struct ftr_err *err)
{
	const struct ftr_image *image = places->image;
	const char *last = "";
	size_t i;

	for (i = 0; i < image->vmas.nr; i++) {
		const struct ftr_vma *vma = &image->vmas.v[i];

		if (vma->path[0] != '/' || strcmp(vma->path, last) == 0 || vma->offset != 0)
			continue;
		last = vma->path;
		/* A file that cannot be read has no names: threads in it are not chosen. */
		ftr_image_symbols(image, vma->path, symbol_add, places, err);
	}
	if (places->locking.nr == 0)
		return ftr_err_set(err, ENOTSUP, "where its threads hold locks cannot be told: its "
				   "libraries cannot be read");
	return 0;
}

int ftr_places_init(struct ftr_places *places, const struct ftr_image *image, const char *runtime,
		    struct ftr_err *err)
{
	*places = (struct ftr_places){
		.image = image, .runtime = runtime, .entry = ftr_process_entry(image->pid),
	};
	places->steps = ftr_steps_known_new();
	if (places->steps == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return symbols_find(places, err);
}

void ftr_places_fini(struct ftr_places *places)
{
	ftr_steps_known_free(places->steps);
	places->steps = NULL;
	ftr_vec_fini(&places->locking);
	ftr_vec_fini(&places->unwinding);
	ftr_vec_fini(&places->known);
}

static bool is_inside(const struct ftr_place_range *range, uint64_t ip)
{
	return ip - range->low < range->high - range->low;
}

static bool is_locking(const struct ftr_places *places, uint64_t ip)
{
	size_t i;

	for (i = 0; i < places->locking.nr; i++) {
		if (is_inside(&places->locking.v[i], ip))
			return true;
	}
	return false;
}

static const char *frame_refusal(const struct ftr_places *places, uint64_t ip)
{
	if (is_inside(&places->stepping, ip))
		return "busy with what an ftr that was killed had begun";
	if (is_in_file(places, ip, linker_names))
		return "in the dynamic linker";
	if (is_locking(places, ip))
		return "in the allocator, the dynamic linker or the start or end of a process";
	return NULL;
}

/* All of its frames, from the innermost on: each must be known, up to the last. */
static const char *frames_refusal(const struct ftr_places *places, pid_t tid)
{
	struct ftr_steps *steps = ftr_steps_new(places, tid);
	const char *refusal = NULL;
	unsigned frames = 0;
	uint64_t ip, sp;
	int ret = 1;

	if (steps == NULL)
		return "on a stack for which there is no memory";
	while (ret > 0 && refusal == NULL) {
		if (frames++ == FRAMES_MAX || !ftr_steps_position(steps, &ip, &sp)) {
			ret = -1;
		} else if (ip == 0) {
			ret = 0;
		} else {
			refusal = frame_refusal(places, ip);
			ret = refusal == NULL ? ftr_steps_next(steps) : 0;
		}
	}
	ftr_steps_free(steps);
	return ret < 0 ? "on a stack that cannot be unwound" : refusal;
}

static bool is_waiting(long call)
{
	size_t i;

	for (i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++) {
		if (waiting_calls[i] == call)
			return true;
	}
	return false;
}

/* The clock's code of the kernel counts, too: the runtime calls it. */
static bool is_runtime(const struct ftr_places *places, uint64_t ip)
{
	const struct ftr_vma *vma = ftr_image_at(places->image, ip);

	if (vma == NULL || strchr(vma->prot, 'x') == NULL || is_inside(&places->passing, ip))
		return false;
	return ftr_place_is_ours(places, ip) || is_inside(&places->cloning, ip) ||
	       strcmp(vma->path, "[vdso]") == 0;
}

struct interrupted {
	const struct ftr_places *places;
	bool is_runtime;
};

static void interrupted_look(void *arg, uint64_t at, uint64_t ip)
{
	struct interrupted *of = arg;

	of->is_runtime |= is_runtime(of->places, ip);
}

/* Did a handler that has not come back interrupt the runtime, or can that not be seen? */
static bool stack_has(const struct ftr_places *places, uint64_t sp)
{
	struct interrupted of = { .places = places };
	const struct ftr_words words = {
		.image = places->image, .comeback = places->comeback,
		.interrupted = interrupted_look, .arg = &of,
	};

	return !ftr_words_show(&words, sp) || of.is_runtime;
}

static bool is_unwinder(const struct ftr_places *places, uint64_t ip)
{
	size_t i;

	for (i = 0; i < places->unwinding.nr; i++) {
		if (is_inside(&places->unwinding.v[i], ip))
			return true;
	}
	return false;
}

/* Whatever is on its stack; what calls ended there has left counts, too. */
static bool may_unwind(const struct ftr_places *places, uint64_t ip, uint64_t sp)
{
	uint64_t words[UNWINDING_BYTES / sizeof(uint64_t)];
	const struct ftr_vma *vma = ftr_image_at(places->image, sp);
	size_t bytes = sizeof(words), i;

	sp &= ~UINT64_C(7);
	if (vma != NULL && vma->high - sp < bytes)
		bytes = vma->high - sp;
	if (vma == NULL || is_unwinder(places, ip) ||
	    !ftr_memory_read(places->image->pid, sp, words, bytes))
		return true;
	for (i = 0; i < bytes / sizeof(words[0]); i++) {
		if (is_unwinder(places, ftr_arch_address(words[i])))
			return true;
	}
	return false;
}

/* An unwinder among its frames; or one that cannot be seen. */
static bool is_unwinding(const struct ftr_places *places, pid_t tid)
{
	struct ftr_steps *steps = ftr_steps_new(places, tid);
	unsigned frames;
	uint64_t ip, sp;
	int ret = 1;

	for (frames = 0; steps != NULL && ret > 0 && frames < FRAMES_MAX; frames++) {
		if (!ftr_steps_position(steps, &ip, &sp) || is_unwinder(places, ip))
			ret = -1;
		else
			ret = ftr_steps_next(steps);
	}
	ftr_steps_free(steps);
	return ret != 0;
}

bool ftr_place_is_in_runtime(const struct ftr_places *places, pid_t tid)
{
	uint64_t ip, sp;

	if (places->runtime == NULL || !ftr_remote_position(tid, &ip, &sp))
		return false;
	return is_runtime(places, ip) || stack_has(places, sp) ||
	       (may_unwind(places, ip, sp) && is_unwinding(places, tid));
}

/* Outside of system calls, only in code of a file that is not libc's: that has locks of its own. */
static const char *top_refusal(const struct ftr_places *places, pid_t tid, uint64_t ip)
{
	const struct ftr_vma *vma = ftr_image_at(places->image, ip);
	long call = ftr_remote_syscall(tid);

	if (vma == NULL || strchr(vma->prot, 'x') == NULL)
		return "in code that was mapped just now";
	if (call >= 0)
		return is_waiting(call) ? NULL : "in a system call that does not wait";
	if (vma->path[0] != '/' || is_in_file(places, ip, libc_names))
		return "in the C library, or in code that is in no file";
	return NULL;
}

const char *ftr_place_refusal(const struct ftr_places *places, pid_t tid)
{
	const char *refusal;
	uint64_t ip, sp;

	if (!ftr_remote_position(tid, &ip, &sp))
		return "gone";
	if (ftr_place_is_in_runtime(places, tid))
		return "in the runtime";
	refusal = top_refusal(places, tid, ip);
	return refusal != NULL ? refusal : frames_refusal(places, tid);
}
