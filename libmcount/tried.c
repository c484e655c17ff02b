/* SPDX-License-Identifier: MIT */
/*
 * See tried.h.  A file is looked at by the system call that each dynamic linker looks at libraries
 * by: a filter that was there before the recording, which we do not know, lets it pass.
 */
#include "libmcount/tried.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "libmcount/channel.h"
#include "libmcount/nursery.h"
#include "libmcount/state.h"
#include "utils/base/rt/sys.h"

#define TRIED_PATH_MAX 256	/* of a name and its directory, on a small stack */

static_assert(sizeof(((struct stat *)0)->st_ino) == sizeof(uint64_t), "as the kernel fills it in");

/*
 * Not where the recorder may leave before the program ends: that it answers shows that it is there.
 */
static bool may_look(void)
{
	return ftr_state.control != NULL && ftr_state.late == NULL && !ftr_state.asks_exec &&
	       !ftr_is_silent() && !ftr_is_blocked(FTR_SECCOMP_LOOK);
}

/* What the recorder would reply; 0: it is to be asked. */
static uint64_t reply_for(const struct stat *st)
{
	const struct ftr_control *control = ftr_state.control;
	const struct ftr_tried_file file = {
		.device = st->st_dev, .inode = st->st_ino, .size_bytes = (uint64_t)st->st_size,
		.changed_s = (uint64_t)st->st_ctim.tv_sec,
		.changed_ns = (uint32_t)st->st_ctim.tv_nsec,
	};
	uint32_t nr = atomic_load_explicit(&control->tried_nr, memory_order_acquire), i;

	for (i = 0; i < nr && i < FTR_TRIED_MAX; i++) {
		if (ftr_tried_is_same(&control->tried[i], &file))
			return FTR_CHANNEL_LOADS | control->tried[i].machine;
	}
	return 0;
}

/* 0, with what the recorder would reply, which is 0 when it is to be asked; or -errno. */
static long look_at(int dir, const char *path, uint64_t *loads)
{
	struct stat st;
	long ret = ftr_sys6(FTR_ARCH_SYS_FSTATAT, dir, path, &st,
			    path[0] == '\0' && dir != AT_FDCWD ? AT_EMPTY_PATH : 0, 0,
			    FTR_OWN_CALL);

	*loads = ret == 0 ? reply_for(&st) : 0;
	return ret;
}

/* "@dirs/@name", of the first of @dirs; returns the rest of these, or NULL: there is no room. */
static const char *path_make(char path[TRIED_PATH_MAX], const char *dirs, const char *name)
{
	unsigned nr = 0;

	while (*dirs != ':' && *dirs != '\0' && nr < TRIED_PATH_MAX - 2)
		path[nr++] = *dirs++;
	if (nr == 0)
		path[nr++] = '.';
	path[nr++] = '/';
	while (*name != '\0' && nr < TRIED_PATH_MAX - 1)
		path[nr++] = *name++;
	path[nr] = '\0';
	return *name == '\0' && (*dirs == ':' || *dirs == '\0') ? dirs : NULL;
}

/* What is first found is decided by; where that cannot be run, the recorder knows how to go on. */
static bool look_along(const char *name, const char *dirs, uint64_t *loads)
{
	char path[TRIED_PATH_MAX];
	long ret;

	for (; (dirs = path_make(path, dirs, name)) != NULL; dirs++) {
		ret = look_at(AT_FDCWD, path, loads);
		if (ret != -ENOENT)
			return ret == 0 && *loads != 0;
		if (*dirs == '\0')
			break;
	}
	return false;
}

bool ftr_tried_look(int dir, const char *path, const char *dirs, uint64_t *loads)
{
	long ret;

	if (!may_look())
		return false;
	if (dirs != NULL)
		return look_along(path, dirs, loads) && ftr_nursery_keep_name();
	ret = look_at(dir, path, loads);
	if (ret == -ENOENT)
		return true;		/* exec will fail */
	return ret == 0 && *loads != 0 && ftr_nursery_keep_name();
}
