/* SPDX-License-Identifier: MIT */
/* Room for a data directory: an earlier trace becomes NAME.old, anything else is left alone. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/format/uftrace/write.h"

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool dir_is_empty(int dirfd)
{
	bool is_empty = true;
	struct dirent *entry;
	DIR *dir = fdopendir(dup(dirfd));

	if (dir == NULL)
		return false;
	while (is_empty && (entry = readdir(dir)) != NULL)
		is_empty = is_dot(entry->d_name);
	closedir(dir);
	return is_empty;
}

/* What a recorder makes before info: a killed one leaves these, and nothing in task.txt. */
static bool is_begin(int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	return fnmatch("perf-cpu*.dat", name, 0) == 0 ||
	       (strcmp(name, "task.txt") == 0 && st.st_size == 0);
}

/* Of a recorder that is gone: one that goes on holds a lock. */
static bool dir_is_left(int dirfd)
{
	bool is_left = flock(dirfd, LOCK_EX | LOCK_NB) == 0;
	struct dirent *entry;
	DIR *dir = fdopendir(dup(dirfd));

	if (dir == NULL)
		return false;
	rewinddir(dir);		/* descriptors that are copies have one position */
	while (is_left && (entry = readdir(dir)) != NULL)
		is_left = is_dot(entry->d_name) || is_begin(dirfd, entry->d_name);
	closedir(dir);
	return is_left;
}

/* Only plain files are removed: a data directory holds nothing else. */
static int dir_unlink_all(int dirfd)
{
	struct dirent *entry;
	DIR *dir = fdopendir(dup(dirfd));
	int ret = 0;

	if (dir == NULL)
		return -errno;
	rewinddir(dir);
	while (ret == 0 && (entry = readdir(dir)) != NULL) {
		if (!is_dot(entry->d_name) && unlinkat(dirfd, entry->d_name, 0) < 0)
			ret = -errno;
	}
	closedir(dir);
	return ret;
}

int ftr_uftrace_dir_remove(const char *path, struct ftr_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int ret;

	if (fd < 0)
		return ftr_err_set(err, errno, "%s: %s", path, strerror(errno));
	if (faccessat(fd, "info", F_OK, 0) < 0 && !dir_is_empty(fd)) {
		close(fd);
		return ftr_err_set(err, ENOTDIR, "%s: not a trace (it has no info file): "
				   "remove it by hand", path);
	}
	ret = dir_unlink_all(fd);
	close(fd);
	if (ret == 0 && rmdir(path) < 0)
		ret = -errno;
	if (ret < 0)
		return ftr_err_set(err, -ret, "%s: cannot remove: %s", path, strerror(-ret));
	return 0;
}

static int dir_move_to_old(const char *path, struct ftr_err *err)
{
	char *old = NULL;
	int ret = 0;

	if (asprintf(&old, "%s.old", path) < 0)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	if (access(old, F_OK) == 0)
		ret = ftr_uftrace_dir_remove(old, err);
	if (ret == 0 && rename(path, old) < 0)
		ret = ftr_err_set(err, errno, "%s: cannot rename to %s: %s", path, old,
				  strerror(errno));
	free(old);
	return ret;
}

int ftr_uftrace_dir_make_room(const char *path, struct ftr_err *err)
{
	struct stat st;
	int fd, ret = 0;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : ftr_err_set(err, errno, "%s: %s", path,
							 strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ftr_err_set(err, EEXIST, "%s: exists and is not a directory: "
				   "choose another with -d", path);
	if (faccessat(fd, "info", F_OK, 0) == 0)
		ret = dir_move_to_old(path, err);
	else if (!dir_is_empty(fd) && (!dir_is_left(fd) || dir_unlink_all(fd) < 0))
		ret = ftr_err_set(err, EEXIST, "%s: exists and is not a trace (it has no info "
				  "file): choose another directory with -d", path);
	close(fd);
	return ret;
}
