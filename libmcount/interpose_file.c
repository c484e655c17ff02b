/* SPDX-License-Identifier: MIT */
/*
 * libmcount-file.so, the probe "file": what is done with files by descriptors and by paths; streams
 * are in interpose_stdio.c.  It is preloaded where the probe is on (doc/adr/0080).
 *
 * All of these may be called in a handler, by a child between vfork and exec, and while the thread
 * is cancelled: nothing is done here but that two events are put around the call.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libmcount/interpose_ours.h"

#define FOR_EACH(x) \
	x(read) x(__read_chk) x(pread) x(pread64) x(__pread_chk) x(__pread64_chk) x(readv) \
	x(preadv) x(preadv64) x(preadv2) x(preadv64v2) x(write) x(pwrite) x(pwrite64) x(writev) \
	x(pwritev) x(pwritev64) x(pwritev2) x(pwritev64v2) x(flock) x(lockf) x(lockf64) x(fcntl) \
	x(fcntl64) x(close) x(lseek) x(lseek64) x(fsync) x(fdatasync) x(syncfs) x(ftruncate) \
	x(ftruncate64) x(fchmod) x(fchown) x(dup) x(dup2) x(dup3) x(open) x(open64) x(__open_2) \
	x(__open64_2) x(openat) x(openat64) x(__openat_2) x(__openat64_2) x(creat) x(creat64) \
	x(mkstemp) x(mkstemp64) x(mkostemp) x(mkostemp64) x(mkstemps) x(mkstemps64) x(mkostemps) \
	x(mkostemps64) x(mkdir) x(mkdirat) x(rmdir) x(unlink) x(unlinkat) x(remove) x(chdir) \
	x(chmod) x(fchmodat) x(chown) x(lchown) x(fchownat) x(truncate) x(truncate64) x(rename) \
	x(renameat) x(renameat2) x(link) x(linkat) x(symlink) x(symlinkat) x(opendir) x(readdir) \
	x(readdir64) x(closedir) x(stat) x(stat64) x(lstat) x(lstat64) x(fstat) x(fstat64) \
	x(fstatat) x(fstatat64) x(statx) x(access) x(faccessat) x(eaccess) x(euidaccess)

FTR_CALL_TABLE(FOR_EACH)

#define KIND(kind) FTR_RECORD_EVENT_FILE_##kind

/* A function with a descriptor alone. */
#define ON_FD_ALONE(kind, name) \
	OURS(int, name, (int fd)) \
	{ \
		CALL(int, ftr_call_begin(KIND(kind), NUMBER(fd), FTR_CALL_SLOT()), \
		     REAL(name)(fd)); \
	}

/* ... and one that says where the answer goes. */
#define ON_FD_FOR(kind, name, type) \
	OURS(int, name, (int fd, type *to)) \
	{ \
		CALL(int, ftr_call_begin(KIND(kind), NUMBER(fd), FTR_CALL_SLOT()), \
		     REAL(name)(fd, to)); \
	}

/* Paths are copied before the call: another thread may change them in it. */
#define PATHS(kind, dir, argument, ...) \
	ftr_call_begin_texts(KIND(kind), NUMBER(dir), NUMBER(argument), FTR_CALL_SLOT(), \
			     (const char *const[]){ __VA_ARGS__ }, \
			     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* A function with the path of a file below a directory. */
#define ON_PATH(kind, name, params, dir, argument, path, ...) \
	OURS(int, name, params) \
	{ \
		CALL(int, PATHS(kind, dir, argument, path), REAL(name)(__VA_ARGS__)); \
	}

/* ... two of them. */
#define ON_PATHS(kind, name, params, dir, argument, from, to, ...) \
	OURS(int, name, params) \
	{ \
		CALL(int, PATHS(kind, dir, argument, from, to), REAL(name)(__VA_ARGS__)); \
	}

/* ---- bytes ---- */

#define PIECES() ftr_call_pieces(pieces, nr, FTR_CALL_SLOT())

ON_FD(READ, ssize_t, read, (int fd, void *to, size_t bytes), fd, bytes, fd, to, bytes)
ON_FD(READ, ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room), fd, bytes, fd, to,
      bytes, room)
ON_FD(READ, ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), fd, bytes, fd, to, bytes,
      at)
ON_FD(READ, ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), fd, bytes, fd, to,
      bytes, at)
ON_FD(READ, ssize_t, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room), fd,
      bytes, fd, to, bytes, at, room)
ON_FD(READ, ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room), fd,
      bytes, fd, to, bytes, at, room)
ON_FD(READ, ssize_t, readv, (int fd, const struct iovec *pieces, int nr), fd, PIECES(), fd, pieces,
      nr)
ON_FD(READ, ssize_t, preadv, (int fd, const struct iovec *pieces, int nr, off_t at), fd, PIECES(),
      fd, pieces, nr, at)
ON_FD(READ, ssize_t, preadv64, (int fd, const struct iovec *pieces, int nr, off64_t at), fd,
      PIECES(), fd, pieces, nr, at)
ON_FD(READ, ssize_t, preadv2, (int fd, const struct iovec *pieces, int nr, off_t at, int flags),
      fd, PIECES(), fd, pieces, nr, at, flags)
ON_FD(READ, ssize_t, preadv64v2,
      (int fd, const struct iovec *pieces, int nr, off64_t at, int flags), fd, PIECES(), fd,
      pieces, nr, at, flags)

ON_FD(WRITE, ssize_t, write, (int fd, const void *from, size_t bytes), fd, bytes, fd, from, bytes)
ON_FD(WRITE, ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), fd, bytes, fd,
      from, bytes, at)
ON_FD(WRITE, ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at), fd, bytes,
      fd, from, bytes, at)
ON_FD(WRITE, ssize_t, writev, (int fd, const struct iovec *pieces, int nr), fd, PIECES(), fd,
      pieces, nr)
ON_FD(WRITE, ssize_t, pwritev, (int fd, const struct iovec *pieces, int nr, off_t at), fd,
      PIECES(), fd, pieces, nr, at)
ON_FD(WRITE, ssize_t, pwritev64, (int fd, const struct iovec *pieces, int nr, off64_t at), fd,
      PIECES(), fd, pieces, nr, at)
ON_FD(WRITE, ssize_t, pwritev2, (int fd, const struct iovec *pieces, int nr, off_t at, int flags),
      fd, PIECES(), fd, pieces, nr, at, flags)
ON_FD(WRITE, ssize_t, pwritev64v2,
      (int fd, const struct iovec *pieces, int nr, off64_t at, int flags), fd, PIECES(), fd,
      pieces, nr, at, flags)

/* ---- descriptors ---- */

ON_FD_ALONE(CLOSE, close)
ON_FD_ALONE(FLUSH, fsync)
ON_FD_ALONE(FLUSH, fdatasync)
ON_FD_ALONE(FLUSH, syncfs)
ON_FD(SEEK, off_t, lseek, (int fd, off_t to, int whence), fd, to, fd, to, whence)
ON_FD(SEEK, off64_t, lseek64, (int fd, off64_t to, int whence), fd, to, fd, to, whence)
ON_FD(SETSIZE, int, ftruncate, (int fd, off_t bytes), fd, bytes, fd, bytes)
ON_FD(SETSIZE, int, ftruncate64, (int fd, off64_t bytes), fd, bytes, fd, bytes)
ON_FD(SETMODE, int, fchmod, (int fd, mode_t mode), fd, mode, fd, mode)
ON_FD(SETOWNER, int, fchown, (int fd, uid_t user, gid_t group), fd, user, fd, user, group)
ON_FD(DUP, int, dup, (int fd), fd, -1, fd)
ON_FD(DUP, int, dup2, (int fd, int to), fd, to, fd, to)
ON_FD(DUP, int, dup3, (int fd, int to, int flags), fd, to, fd, to, flags)

#define LOCK_KIND(is_unlock) ((is_unlock) ? KIND(UNLOCK) : KIND(LOCK))

#define LOCKS(name, params, fd, how, is_unlock, ...) \
	OURS(int, name, params) \
	{ \
		CALL(int, ftr_call_begin_with(LOCK_KIND(is_unlock), NUMBER(fd), NUMBER(how), \
					      FTR_CALL_SLOT()), REAL(name)(__VA_ARGS__)); \
	}

LOCKS(flock, (int fd, int how), fd, how, (how & LOCK_UN) != 0, fd, how)
LOCKS(lockf, (int fd, int how, off_t bytes), fd, how, how == F_ULOCK, fd, how, bytes)
LOCKS(lockf64, (int fd, int how, off64_t bytes), fd, how, how == F_ULOCK, fd, how, bytes)

/* The kind of an fcntl; 0: it is no event. */
static __attribute__((noinline)) uint32_t fcntl_kind(int command, const void *argument,
						     const uintptr_t *slot)
{
	struct flock lock;

	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return KIND(DUP);
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return LOCK_KIND(ftr_interposed_copy(&lock, argument, sizeof(lock), slot) &&
				 lock.l_type == F_UNLCK);
	default:
		return 0;
	}
}

/* What is behind the command is passed on as it came: the command says whether it is anything. */
#define FCNTL(name) \
	OURS(int, name, (int fd, int command, void *argument)) \
	{ \
		uint32_t kind = fcntl_kind(command, argument, FTR_CALL_SLOT()); \
		uint64_t value = kind == KIND(DUP) ? NUMBER((intptr_t)argument) : NUMBER(command); \
\
		if (kind == 0) \
			return REAL_AS(__typeof__(&fcntl), name)(fd, command, argument); \
		CALL(int, ftr_call_begin_with(kind, NUMBER(fd), value, FTR_CALL_SLOT()), \
		     REAL_AS(__typeof__(&fcntl), name)(fd, command, argument)); \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- paths ---- */

#define OPEN(name, as, params, dir, ...) \
	OURS(int, name, params) \
	{ \
		CALL(int, PATHS(OPEN, dir, flags, path), \
		     REAL_AS(__typeof__(&as), name)(__VA_ARGS__)); \
	}

/* The mode is passed on also where the flags say that there is none. */
OPEN(open, open, (const char *path, int flags, mode_t mode), AT_FDCWD, path, flags, mode)
OPEN(open64, open, (const char *path, int flags, mode_t mode), AT_FDCWD, path, flags, mode)
OPEN(openat, openat, (int dir, const char *path, int flags, mode_t mode), dir, dir, path, flags,
     mode)
OPEN(openat64, openat, (int dir, const char *path, int flags, mode_t mode), dir, dir, path, flags,
     mode)
ON_PATH(OPEN, __open_2, (const char *path, int flags), AT_FDCWD, flags, path, path, flags)
ON_PATH(OPEN, __open64_2, (const char *path, int flags), AT_FDCWD, flags, path, path, flags)
ON_PATH(OPEN, __openat_2, (int dir, const char *path, int flags), dir, flags, path, dir, path,
	flags)
ON_PATH(OPEN, __openat64_2, (int dir, const char *path, int flags), dir, flags, path, dir, path,
	flags)

#define CREATE_FLAGS (O_CREAT | O_WRONLY | O_TRUNC)
ON_PATH(OPEN, creat, (const char *path, mode_t mode), AT_FDCWD, CREATE_FLAGS, path, path, mode)
ON_PATH(OPEN, creat64, (const char *path, mode_t mode), AT_FDCWD, CREATE_FLAGS, path, path, mode)

/* The path is what was asked for: its end becomes another. */
#define TEMPORARY_FLAGS (O_RDWR | O_CREAT | O_EXCL)
#define TEMPORARY(name, params, flags, ...) \
	ON_PATH(OPEN, name, params, AT_FDCWD, TEMPORARY_FLAGS | (flags), path, __VA_ARGS__)
TEMPORARY(mkstemp, (char *path), 0, path)
TEMPORARY(mkstemp64, (char *path), 0, path)
TEMPORARY(mkostemp, (char *path, int flags), flags, path, flags)
TEMPORARY(mkostemp64, (char *path, int flags), flags, path, flags)
TEMPORARY(mkstemps, (char *path, int suffix), 0, path, suffix)
TEMPORARY(mkstemps64, (char *path, int suffix), 0, path, suffix)
TEMPORARY(mkostemps, (char *path, int suffix, int flags), flags, path, suffix, flags)
TEMPORARY(mkostemps64, (char *path, int suffix, int flags), flags, path, suffix, flags)

ON_PATH(MKDIR, mkdir, (const char *path, mode_t mode), AT_FDCWD, mode, path, path, mode)
ON_PATH(MKDIR, mkdirat, (int dir, const char *path, mode_t mode), dir, mode, path, dir, path, mode)
ON_PATH(CHDIR, chdir, (const char *path), AT_FDCWD, 0, path, path)
ON_PATH(UNLINK, rmdir, (const char *path), AT_FDCWD, AT_REMOVEDIR, path, path)
ON_PATH(UNLINK, unlink, (const char *path), AT_FDCWD, 0, path, path)
ON_PATH(UNLINK, unlinkat, (int dir, const char *path, int flags), dir, flags, path, dir, path,
	flags)
ON_PATH(UNLINK, remove, (const char *path), AT_FDCWD, 0, path, path)
ON_PATH(CHMOD, chmod, (const char *path, mode_t mode), AT_FDCWD, mode, path, path, mode)
ON_PATH(CHMOD, fchmodat, (int dir, const char *path, mode_t mode, int flags), dir, mode, path, dir,
	path, mode, flags)
ON_PATH(CHOWN, chown, (const char *path, uid_t user, gid_t group), AT_FDCWD, user, path, path,
	user, group)
ON_PATH(CHOWN, lchown, (const char *path, uid_t user, gid_t group), AT_FDCWD, user, path, path,
	user, group)
ON_PATH(CHOWN, fchownat, (int dir, const char *path, uid_t user, gid_t group, int flags), dir,
	user, path, dir, path, user, group, flags)
ON_PATH(TRUNCATE, truncate, (const char *path, off_t bytes), AT_FDCWD, bytes, path, path, bytes)
ON_PATH(TRUNCATE, truncate64, (const char *path, off64_t bytes), AT_FDCWD, bytes, path, path,
	bytes)
ON_PATHS(RENAME, rename, (const char *from, const char *to), AT_FDCWD, 0, from, to, from, to)
ON_PATHS(RENAME, renameat, (int dir, const char *from, int to_dir, const char *to), dir, 0, from,
	 to, dir, from, to_dir, to)
ON_PATHS(RENAME, renameat2,
	 (int dir, const char *from, int to_dir, const char *to, unsigned flags), dir, flags, from,
	 to, dir, from, to_dir, to, flags)
ON_PATHS(LINK, link, (const char *from, const char *to), AT_FDCWD, 0, from, to, from, to)
ON_PATHS(LINK, linkat, (int dir, const char *from, int to_dir, const char *to, int flags), dir,
	 flags, from, to, dir, from, to_dir, to, flags)
ON_PATHS(SYMLINK, symlink, (const char *from, const char *to), AT_FDCWD, 0, from, to, from, to)
ON_PATHS(SYMLINK, symlinkat, (const char *from, int dir, const char *to), dir, 0, from, to, from,
	 dir, to)

/* ---- what is there ---- */

#define STAT(name, type, flags) \
	ON_PATH(STAT, name, (const char *path, struct type *to), AT_FDCWD, flags, path, path, to)
STAT(stat, stat, 0)
STAT(stat64, stat64, 0)
STAT(lstat, stat, AT_SYMLINK_NOFOLLOW)
STAT(lstat64, stat64, AT_SYMLINK_NOFOLLOW)
ON_PATH(STAT, fstatat, (int dir, const char *path, struct stat *to, int flags), dir, flags, path,
	dir, path, to, flags)
ON_PATH(STAT, fstatat64, (int dir, const char *path, struct stat64 *to, int flags), dir, flags,
	path, dir, path, to, flags)
ON_PATH(STAT, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *to), dir,
	flags, path, dir, path, flags, mask, to)
ON_FD_FOR(FSTAT, fstat, struct stat)
ON_FD_FOR(FSTAT, fstat64, struct stat64)
ON_PATH(ACCESS, access, (const char *path, int mode), AT_FDCWD, mode, path, path, mode)
ON_PATH(ACCESS, faccessat, (int dir, const char *path, int mode, int flags), dir, mode, path, dir,
	path, mode, flags)
ON_PATH(ACCESS, eaccess, (const char *path, int mode), AT_FDCWD, mode, path, path, mode)
ON_PATH(ACCESS, euidaccess, (const char *path, int mode), AT_FDCWD, mode, path, path, mode)

/* ---- directories ---- */

OURS(DIR *, opendir, (const char *path))
{
	FTR_CALL_WHEN_LEFT();
	struct ftr_call_open before = PATHS(OPENDIR, AT_FDCWD, O_DIRECTORY, path);
	DIR *dir = REAL(opendir)(path);

	ftr_call_end(dir != NULL ? dirfd(dir) : ftr_call_result(-1), before);
	return dir;
}

OURS(int, closedir, (DIR *dir))
{
	int fd = dir != NULL ? dirfd(dir) : -1;	/* which it refuses */

	CALL(int, ftr_call_begin(KIND(CLOSE), NUMBER(fd), FTR_CALL_SLOT()), REAL(closedir)(dir));
}

/* The end of a directory leaves errno as it was. */
#define READS_DIR(type, name) \
	OURS(type, name, (DIR *dir)) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		struct ftr_call_open before = ftr_call_begin(KIND(READDIR), NUMBER(dirfd(dir)), \
							     FTR_CALL_SLOT()); \
		int errno_before = errno; \
		type entry; \
\
		errno = 0; \
		entry = REAL(name)(dir); \
		ftr_call_end(entry != NULL ? 1 : -(int64_t)errno, before); \
		if (errno == 0) \
			errno = errno_before; \
		return entry; \
	}
READS_DIR(struct dirent *, readdir)
READS_DIR(struct dirent64 *, readdir64)
