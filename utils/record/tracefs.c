/* SPDX-License-Identifier: MIT */
/* tracefs, and an instance of our own in it. */
#include "utils/record/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTANCES "instances"
#define NAME_FORMAT "ftr.%d.%llu"
#define MOUNTS "/proc/self/mounts"
#define READ_BYTES 65536u

/* ---- where it is ---- */

static int mounted_open(void)
{
	FILE *mounts = setmntent(MOUNTS, "re");
	const struct mntent *mount;
	int fd = -ENOENT;

	while (mounts != NULL && fd < 0 && (mount = getmntent(mounts)) != NULL) {
		if (strcmp(mount->mnt_type, "tracefs") != 0)
			continue;
		fd = open(mount->mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	if (mounts != NULL)
		endmntent(mounts);
	return fd;
}

/* A mount of this process alone, which the kernel unmounts at its end. */
static int detached_open(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC);
	int fd = -1;

	if (context < 0)
		return -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	close(context);
	return fd;
}

int ftr_tracefs_open(struct ftr_err *err)
{
	int fd = mounted_open();

	if (fd == -ENOENT)
		fd = detached_open();
	if (fd >= 0)
		return fd;
	if (fd == -ENODEV || fd == -ENOSYS)
		return ftr_err_set(err, -fd, "this kernel has no tracefs (CONFIG_TRACING)");
	return ftr_err_set(err, -fd, "tracefs: %s: run ftr as root", strerror(-fd));
}

/* ---- its files ---- */

int ftr_tracefs_read(int dir, const char *path, struct ftr_strbuf *text)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes = malloc(READ_BYTES);
	ssize_t n = 0;
	int ret = fd < 0 ? -errno : bytes == NULL ? -ENOMEM : 0;

	while (ret == 0 && (n = read(fd, bytes, READ_BYTES)) != 0) {
		if (n > 0)
			ftr_strbuf_put(text, bytes, (size_t)n);
		else if (errno != EINTR)
			ret = -errno;
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return ret == 0 && text->failed ? -ENOMEM : ret;
}

int ftr_tracefs_write(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n;
	int ret = 0;

	if (fd < 0)
		return -errno;
	do
		n = write(fd, text, strlen(text));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)strlen(text))
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

bool ftr_tracefs_has_word(int dir, const char *path, const char *word)
{
	bool is_found = false;
	struct ftr_strbuf text;
	char *rest, *one;

	ftr_strbuf_init(&text);
	rest = ftr_tracefs_read(dir, path, &text) == 0 ? text.s : NULL;
	while (!is_found && rest != NULL && (one = strsep(&rest, " \n")) != NULL)
		is_found = strcmp(one, word) == 0;
	ftr_strbuf_fini(&text);
	return is_found;
}

/* ---- instances ---- */

/* When the process began, in ticks since boot: tells it from a later one of its number. */
static unsigned long long process_start(int32_t pid)
{
	unsigned long long start = 0;
	char path[32], line[1024];
	const char *fields;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	/* The name may hold anything; behind its last parenthesis the third field begins. */
	fields = fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
	if (fields == NULL ||
	    sscanf(fields,
		   ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %llu",
		   &start) != 1)
		start = 0;
	fclose(file);
	return start;
}

/* Put back what is not of the instance alone: ".DEPTH" at the end of its name. */
static void depth_restore(int top, const char *name)
{
	unsigned long long start;
	int pid, depth;
	char text[16];

	if (sscanf(name, NAME_FORMAT ".%d", &pid, &start, &depth) != 3)
		return;
	snprintf(text, sizeof(text), "%d", depth);
	(void)ftr_tracefs_write(top, FTR_TRACEFS_GRAPH_DEPTH, text);
}

static void stale_remove(int top, int instances, const char *name)
{
	unsigned long long start;
	int pid;

	if (sscanf(name, NAME_FORMAT, &pid, &start) == 2 && process_start(pid) != start &&
	    unlinkat(instances, name, AT_REMOVEDIR) == 0)
		depth_restore(top, name);
}

/* Its recorder was killed and could not do it.  Of two that try, one succeeds. */
static void stale_remove_all(int top)
{
	int fd = openat(top, INSTANCES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		stale_remove(top, fd, entry->d_name);
	if (dir != NULL)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static void name_make(struct ftr_tracefs_instance *instance, bool changes_depth)
{
	struct ftr_strbuf depth;
	size_t len;

	snprintf(instance->path, sizeof(instance->path), INSTANCES "/" NAME_FORMAT, getpid(),
		 process_start(getpid()));
	len = strlen(instance->path);
	ftr_strbuf_init(&depth);
	if (changes_depth &&
	    ftr_tracefs_read(instance->top, FTR_TRACEFS_GRAPH_DEPTH, &depth) == 0)
		snprintf(instance->path + len, sizeof(instance->path) - len, ".%d",
			 atoi(ftr_strbuf_str(&depth)));
	ftr_strbuf_fini(&depth);
}

static int instance_refused(int code, struct ftr_err *err)
{
	const char *remedy = code == EACCES || code == EPERM ? "; run ftr as root" :
			     code == EROFS ? "; mount tracefs writable" :
					     "";

	return ftr_err_set(err, code, "tracefs: cannot make an instance: %s%s", strerror(code),
			   remedy);
}

int ftr_tracefs_instance_open(struct ftr_tracefs_instance *instance, bool changes_depth,
			      struct ftr_err *err)
{
	int ret;

	*instance = (struct ftr_tracefs_instance)FTR_TRACEFS_INSTANCE_NONE;
	ret = ftr_tracefs_open(err);
	if (ret < 0)
		return ret;
	instance->top = ret;
	stale_remove_all(instance->top);
	name_make(instance, changes_depth);
	ret = 0;
	if (mkdirat(instance->top, instance->path, 0700) < 0)
		ret = instance_refused(errno, err);
	else
		instance->dir = openat(instance->top, instance->path,
				       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret == 0 && instance->dir < 0)
		ret = instance_refused(errno, err);
	if (ret == 0 && ftr_tracefs_write(instance->dir, "tracing_on", "0") < 0)
		ret = instance_refused(EACCES, err);
	if (ret < 0)
		ftr_tracefs_instance_close(instance);
	return ret;
}

void ftr_tracefs_instance_close(struct ftr_tracefs_instance *instance)
{
	if (instance->dir >= 0) {
		(void)ftr_tracefs_write(instance->dir, "tracing_on", "0");
		close(instance->dir);
		(void)unlinkat(instance->top, instance->path, AT_REMOVEDIR);
		depth_restore(instance->top, instance->path + strlen(INSTANCES "/"));
	}
	if (instance->top >= 0)
		close(instance->top);
	*instance = (struct ftr_tracefs_instance)FTR_TRACEFS_INSTANCE_NONE;
}
