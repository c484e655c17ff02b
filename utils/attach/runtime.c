/* SPDX-License-Identifier: MIT */
/* See runtime.h. */
#include "utils/attach/runtime.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "utils/attach/call.h"
#include "utils/attach/callers.h"
#include "utils/base/clock.h"

#define CHOICE_NS UINT64_C(5000000000)	/* until it is given up */
#define STEP_NS UINT64_C(5000000000)	/* for a thread that another helper had borrowed */
#define RENEW_ROUNDS 50			/* over all threads */
#define PAUSE_NS 5000000
#define TRY_PAUSE_NS 2000000l
#define TRY_DOUBLINGS 5u
#define SCRATCH_BYTES 0x80000ul
#define TEXT_ROOM 8192u			/* of them, behind the stack: a path, a struct ftr_attach */

int ftr_runtime_look(struct ftr_runtime *runtime, struct ftr_err *err)
{
	struct ftr_image now;
	uint64_t start;

	if (ftr_image_load(&now, runtime->image.pid, err) < 0)
		return -err->code;
	if (!ftr_image_is_same(&runtime->image, &now))
		ftr_callers_forget(&runtime->places);
	ftr_image_fini(&runtime->image);
	runtime->image = now;
	runtime->step_at = ftr_image_start(&runtime->image, runtime->path, &start) ?
				   start + runtime->step_offset : 0;
	if (runtime->step_at != 0)
		runtime->places.runtime = runtime->path;	/* it may be loaded just now */
	return 0;
}

/*
 * A thread that something else has taken the processor from where it is in our way may wait for
 * long: no less often would it be found there.
 */
void ftr_runtime_pause(unsigned nr)
{
	unsigned doublings = nr < TRY_DOUBLINGS ? nr - 1 : TRY_DOUBLINGS - 1;
	const struct timespec pause = { .tv_nsec = TRY_PAUSE_NS << doublings };

	nanosleep(&pause, NULL);
}

int ftr_runtime_replaced(const char *path, struct ftr_err *err)
{
	return ftr_err_set(err, ENOTSUP, "it has loaded another %s, which was replaced since "
			   "then; start the program anew", path);
}

static int lost(struct ftr_err *err)
{
	return ftr_err_set(err, ESRCH, "it has ended meanwhile");
}

/* Stop @tid: may it be borrowed?  0, -EAGAIN with why not, or -errno. */
static int thread_try(struct ftr_runtime *runtime, pid_t tid, const char **refusal)
{
	int ret = ftr_tracee_stop(&runtime->tracees, tid);

	*refusal = "in a state that does not stop, or stopped by a signal";
	if (ret == -ETIMEDOUT || ret == -ESRCH)
		return -EAGAIN;
	if (ret < 0)
		return ret;
	*refusal = ftr_place_refusal(&runtime->places, tid);
	if (*refusal == NULL && ftr_call_settle(tid) == 0)
		return 0;
	if (*refusal == NULL)
		*refusal = "about to go on";
	ftr_tracee_release(&runtime->tracees, tid);
	return -EAGAIN;
}

/* One round over the threads: the number of one that is stopped, -EAGAIN or another -errno. */
static int threads_try(struct ftr_runtime *runtime, const char **refusal)
{
	const struct dirent *entry;
	int ret = -EAGAIN;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", runtime->image.pid);
	dir = opendir(path);
	if (dir == NULL)
		return -ESRCH;
	while (ret == -EAGAIN && (entry = readdir(dir)) != NULL) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		ret = thread_try(runtime, tid, refusal);
		if (ret == 0)
			ret = tid;
	}
	closedir(dir);
	return ret;
}

/* Where threads are is told by what is mapped, which changes. */
static int places_renew(struct ftr_runtime *runtime, struct ftr_err *err)
{
	ftr_places_fini(&runtime->places);
	if (ftr_runtime_look(runtime, err) < 0 ||
	    ftr_places_init(&runtime->places, &runtime->image,
			    runtime->step_at != 0 ? runtime->path : NULL, err) < 0)
		return -err->code;
	ftr_remote_libc_find(&runtime->libc, &runtime->image);
	runtime->places.comeback = runtime->libc.comeback;
	return 0;
}

static int thread_choose(struct ftr_runtime *runtime, struct ftr_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const char *refusal = "none";
	uint64_t end_ns = ftr_clock_now_ns(CLOCK_MONOTONIC) + CHOICE_NS;
	unsigned round;
	int ret;

	for (round = 0; ftr_clock_now_ns(CLOCK_MONOTONIC) < end_ns; round++) {
		if (round % RENEW_ROUNDS == 0 && places_renew(runtime, err) < 0)
			return -err->code;
		ret = threads_try(runtime, &refusal);
		if (ret > 0)
			return ret;
		if (ret == -ESRCH)
			return lost(err);
		if (ret != -EAGAIN)
			return ftr_err_set(err, -ret, "a thread cannot be stopped: %s",
					   strerror(-ret));
		nanosleep(&pause, NULL);
	}
	return ftr_err_set(err, EBUSY, "no thread is at a place where it can be made to load "
			   "libmcount.so (the last was %s); try again", refusal);
}

/* In libc's own function, on the thread's stack: there is no other yet. */
static int scratch_map(struct ftr_runtime *runtime, struct ftr_err *err)
{
	const uint64_t args[6] = {
		0, SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		UINT64_MAX, 0,
	};
	uint64_t result = 0;
	int ret = ftr_remote_call(&runtime->remote, runtime->libc.map, args, 0, &result);

	if (ret == -ESRCH)
		return lost(err);
	if (ret < 0)
		return ftr_err_set(err, -ret, "a thread's stack has no room for a call");
	if (result > UINT64_MAX - 4096)
		return ftr_err_set(err, ENOMEM, "it has no memory left for 512 KB: %s",
				   strerror((int)-result));
	runtime->scratch = result;
	return 0;
}

static void scratch_unmap(struct ftr_runtime *runtime)
{
	const uint64_t args[6] = { runtime->scratch, SCRATCH_BYTES };

	ftr_remote_call(&runtime->remote, runtime->libc.unmap, args, 0, NULL);
}

static int runtime_init(struct ftr_runtime *runtime, int32_t pid, const char *path,
			struct ftr_err *err)
{
	*runtime = (struct ftr_runtime){
		.path = path, .image.pid = pid, .tracees.pid = pid,
		.step_offset = ftr_file_symbol(path, FTR_ATTACH_FUNCTION),
	};
	if (runtime->step_offset != 0)
		return 0;
	return ftr_err_set(err, ENOTSUP, "%s is of another version than ftr; reinstall ftr", path);
}

int ftr_runtime_find(struct ftr_runtime *runtime, int32_t pid, const char *path,
		     struct ftr_err *err)
{
	int ret = runtime_init(runtime, pid, path, err);

	return ret < 0 ? ret : places_renew(runtime, err);
}

int ftr_runtime_borrow(struct ftr_runtime *runtime, int32_t pid, const char *path,
		       struct ftr_err *err)
{
	int tid;

	if (runtime_init(runtime, pid, path, err) < 0)
		return -err->code;
	tid = thread_choose(runtime, err);
	if (tid < 0)
		return tid;
	runtime->borrowed_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	if (ftr_remote_begin(&runtime->remote, pid, tid, &runtime->libc, err) < 0)
		return -err->code;
	return scratch_map(runtime, err);
}

/* Call @func of the program on our stack there. */
static int call(struct ftr_runtime *runtime, uint64_t func, const uint64_t args[6],
		struct ftr_err *err)
{
	int ret = ftr_remote_call(&runtime->remote, func, args,
				  runtime->scratch + SCRATCH_BYTES - TEXT_ROOM, NULL);

	if (ret == -ESRCH)
		return lost(err);
	return ret < 0 ? ftr_err_set(err, -ret, "a call in it failed") : 0;
}

static uint64_t text_at(const struct ftr_runtime *runtime)
{
	return runtime->scratch + SCRATCH_BYTES - TEXT_ROOM;
}

int ftr_runtime_load(struct ftr_runtime *runtime, struct ftr_err *err)
{
	const uint64_t args[6] = { text_at(runtime), RTLD_NOW | RTLD_NODELETE };
	const struct ftr_image *image = &runtime->image;
	size_t bytes = strlen(runtime->path) + 1;

	if (runtime->step_at != 0)
		return 0;
	if (runtime->libc.open == 0)
		return ftr_err_set(err, ENOTSUP, "it has no dlopen: libdl.so.2 is not loaded");
	if (bytes > TEXT_ROOM ||
	    !ftr_memory_write(image->pid, text_at(runtime), runtime->path, bytes))
		return ftr_err_set(err, EFAULT, "its memory cannot be written");
	if (call(runtime, runtime->libc.open, args, err) < 0 || ftr_runtime_look(runtime, err) < 0)
		return -err->code;
	if (runtime->step_at == 0 && ftr_image_has_deleted(image, runtime->path))
		return ftr_runtime_replaced(runtime->path, err);
	if (runtime->step_at == 0)
		return ftr_err_set(err, ENOTSUP, "its dynamic linker does not load %s; see what "
				   "ldd and LD_DEBUG=libs say of it", runtime->path);
	return 0;
}

int ftr_runtime_try_step(struct ftr_runtime *runtime, struct ftr_attach *attach,
			 struct ftr_err *err)
{
	const uint64_t args[6] = { text_at(runtime) };
	int32_t pid = runtime->image.pid;

	if (!ftr_memory_write(pid, text_at(runtime), attach, sizeof(*attach)))
		return ftr_err_set(err, EFAULT, "its memory cannot be written");
	if (call(runtime, runtime->step_at, args, err) < 0)
		return -err->code;
	if (!ftr_memory_read(pid, text_at(runtime), attach, sizeof(*attach)))
		return ftr_err_set(err, EFAULT, "its memory cannot be read");
	return 0;
}

int ftr_runtime_step(struct ftr_runtime *runtime, struct ftr_attach *attach, struct ftr_err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t end_ns = ftr_clock_now_ns(CLOCK_MONOTONIC) + STEP_NS;
	int ret;

	while ((ret = ftr_runtime_try_step(runtime, attach, err)) == 0 &&
	       attach->result == -EALREADY) {
		if (ftr_clock_now_ns(CLOCK_MONOTONIC) > end_ns)
			return ftr_err_set(err, EBUSY, "a thread of it is still busy with what an "
					   "ftr that was killed had begun; try again");
		nanosleep(&pause, NULL);
	}
	return ret;
}

uint64_t ftr_runtime_give_back(struct ftr_runtime *runtime)
{
	uint64_t end_ns;

	if (runtime->scratch != 0)
		scratch_unmap(runtime);
	if (runtime->remote.tid != 0)
		ftr_remote_end(&runtime->remote,
			       ftr_tracee_call(&runtime->tracees, runtime->remote.tid));
	ftr_tracees_fini(&runtime->tracees);
	end_ns = ftr_clock_now_ns(CLOCK_MONOTONIC);
	ftr_places_fini(&runtime->places);
	ftr_image_fini(&runtime->image);
	return runtime->borrowed_ns != 0 ? end_ns - runtime->borrowed_ns : 0;
}
