/* SPDX-License-Identifier: MIT */
/* Directories of input files, on disk and in memory. */
#include "utils/format/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/bytes.h"

struct real_dir {
	struct ftr_dir base;
	int fd;
};

struct memory_file {
	const char *name;	/* (borrowed) from base.names */
	const uint8_t *data;
	size_t size;
};

struct memory_dir {
	struct ftr_dir base;
	FTR_VEC(struct memory_file) files;
};

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_sort(struct ftr_dir *dir)
{
	if (dir->names.nr > 1)
		qsort(dir->names.v, dir->names.nr, sizeof(*dir->names.v), name_compare);
}

static int names_add(struct ftr_dir *dir, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (copy == NULL)
		return -ENOMEM;
	if (ftr_vec_push(&dir->names, copy) < 0) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

static void names_fini(struct ftr_dir *dir)
{
	for (size_t i = 0; i < dir->names.nr; i++)
		free(dir->names.v[i]);
	ftr_vec_fini(&dir->names);
}

static int real_file(struct ftr_dir *dir, const char *name, struct ftr_istream *in,
		     struct ftr_err *err)
{
	int ret = ftr_istream_open_file(in, ((struct real_dir *)dir)->fd, name, err);

	if (ret == 0)
		ftr_istream_warn_hole(in, dir->diag);
	return ret;
}

static void real_free(struct ftr_dir *dir)
{
	struct real_dir *self = (struct real_dir *)dir;

	if (self->fd >= 0)
		close(self->fd);
	names_fini(dir);
	free(self);
}

static const struct ftr_dir_ops real_ops = {
	.file = real_file,
	.free = real_free,
};

static int real_list(struct real_dir *self)
{
	struct dirent *entry;
	DIR *stream = NULL;
	int fd = openat(self->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (fd >= 0)
		stream = fdopendir(fd);
	if (stream == NULL) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (ret == 0 && (entry = readdir(stream)) != NULL) {
		if (entry->d_name[0] != '.')
			ret = names_add(&self->base, entry->d_name, strlen(entry->d_name));
	}
	closedir(stream);
	return ret;
}

int ftr_dir_open(struct ftr_dir **out, const char *path, struct ftr_err *err)
{
	struct real_dir *self = calloc(1, sizeof(*self));
	int ret;

	if (self == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", path);
	self->base.ops = &real_ops;
	self->base.is_real = true;
	self->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = self->fd < 0 ? -errno : real_list(self);
	if (ret < 0) {
		real_free(&self->base);
		return ftr_err_set(err, -ret, "%s: %s", path, strerror(-ret));
	}
	names_sort(&self->base);
	*out = &self->base;
	return 0;
}

int ftr_dir_refresh(struct ftr_dir *dir)
{
	int ret;

	if (!dir->is_real)
		return 0;
	names_fini(dir);
	ret = real_list((struct real_dir *)dir);
	names_sort(dir);
	return ret;
}

int ftr_dir_fd(const struct ftr_dir *dir)
{
	return dir->is_real ? ((const struct real_dir *)dir)->fd : -1;
}

static int memory_file(struct ftr_dir *dir, const char *name, struct ftr_istream *in,
		       struct ftr_err *err)
{
	const struct memory_dir *self = (const struct memory_dir *)dir;

	for (size_t i = 0; i < self->files.nr; i++) {
		const struct memory_file *file = &self->files.v[i];

		if (strcmp(file->name, name) != 0)
			continue;
		ftr_istream_from_memory(in, name, file->data, file->size);
		if (in->name != NULL)
			return 0;
		return ftr_err_set(err, ENOMEM, "%s: out of memory", name);
	}
	return ftr_err_set(err, ENOENT, "%s: %s", name, strerror(ENOENT));
}

static void memory_free(struct ftr_dir *dir)
{
	struct memory_dir *self = (struct memory_dir *)dir;

	ftr_vec_fini(&self->files);
	names_fini(dir);
	free(self);
}

static const struct ftr_dir_ops memory_ops = {
	.file = memory_file,
	.free = memory_free,
};

static int memory_unpack(struct memory_dir *self, struct ftr_istream *in)
{
	const uint8_t *len;

	while ((len = ftr_istream_take(in, 1)) != NULL) {
		const uint8_t *name = ftr_istream_take(in, *len);
		const uint8_t *size = name == NULL ? NULL : ftr_istream_take(in, 4);
		struct memory_file file = { 0 };

		if (size == NULL)
			break;
		if (names_add(&self->base, (const char *)name, *len) < 0)
			return -ENOMEM;
		file.name = self->base.names.v[self->base.names.nr - 1];
		file.size = ftr_get_u32(size, false);
		if (file.size > ftr_istream_left(in))
			file.size = ftr_istream_left(in);
		file.data = ftr_istream_take(in, file.size);
		if (ftr_vec_push(&self->files, file) < 0)
			return -ENOMEM;
	}
	return 0;
}

int ftr_dir_open_memory(struct ftr_dir **out, const void *bytes, size_t size, struct ftr_err *err)
{
	struct memory_dir *self = calloc(1, sizeof(*self));
	struct ftr_istream in = { .data = bytes, .size = size };

	if (self == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	self->base.ops = &memory_ops;
	if (memory_unpack(self, &in) < 0) {
		memory_free(&self->base);
		return ftr_err_set(err, ENOMEM, "out of memory");
	}
	names_sort(&self->base);
	*out = &self->base;
	return 0;
}

int ftr_dir_file(struct ftr_dir *dir, const char *name, struct ftr_istream *in, struct ftr_err *err)
{
	if (strchr(name, '/') != NULL || name[0] == '\0')
		return ftr_err_set(err, ENOENT, "%s: not a name of a file in the directory", name);
	return dir->ops->file(dir, name, in, err);
}

bool ftr_dir_has(const struct ftr_dir *dir, const char *name)
{
	if (dir->names.nr == 0)
		return false;
	return bsearch(&name, dir->names.v, dir->names.nr, sizeof(*dir->names.v),
		       name_compare) != NULL;
}

void ftr_dir_free(struct ftr_dir *dir)
{
	if (dir != NULL)
		dir->ops->free(dir);
}
