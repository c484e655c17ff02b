/* SPDX-License-Identifier: MIT */
/* A task under the observer, while it is stopped: its memory, its files, its paths. */
#ifndef FTR_OBSERVE_TRACEE_H
#define FTR_OBSERVE_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/syscalls.h"
#include "utils/base/bits.h"
#include "utils/base/strbuf.h"

/* ptrace(2) puts a PTRACE_EVENT_* above the status of a stop, and above SIGTRAP in its si_code. */
static inline int ftr_stop_event(int status)
{
	return status >> 16;
}

static inline int ftr_stop_code_event(int si_code)
{
	return si_code >> 8;
}

#define FTR_TRACEE_COMM_MAX 4
#define FTR_TRACEE_CMDLINE_MAX FTR_MIB(8)	/* more than the kernel allows */

/* A descriptor open on a comm file: while a process has one, its writes are followed. */
struct ftr_tracee_comm {
	int   fd;
	pid_t tid;		/* whose name is written */
};

struct ftr_space;

/* What the threads of a process share. */
struct ftr_tracee_process {
	pid_t pid;
	unsigned users;		/* threads */
	bool shares_fds;	/* with another process: CLONE_FILES */
	bool has_threads;	/* it has had more than one */
	bool is_hidden;		/* its memory may not be read, as was reported */
	struct ftr_space *space;	/* (shared, nullable) what is mapped: space.h */
	int  memory_fd;		/* (owned) its memory, from before it was not dumpable; or -1 */
	unsigned comm_nr;
	struct ftr_tracee_comm comm[FTR_TRACEE_COMM_MAX];
};

struct ftr_tracee {
	struct ftr_tracee *next;	/* in its bucket, or of the free ones */
	pid_t tid;
	uint64_t upid;
	struct ftr_tracee_process *process; /* (shared) NULL until its parent's event has come */
	bool is_known;		/* the parent's event has come */
	bool has_stopped;	/* it stopped or ended before that event, and waits for it */
	int  early_status;	/* of that, as of wait */
	bool has_exited;	/* its exit was recorded */
	int  stat_fd;		/* (owned) /proc/TID/stat, or -1 */

	/* The call it is in; FTR_SYSID_NONE: none that is followed. */
	uint8_t  call;
	uint8_t  abi;
	bool	 has_begun;	/* the BEGIN of its call was reported */
	bool	 untraced;	/* CLONE_UNTRACED was taken out of its flags */
	uint64_t args[6];
	uint64_t start_ns;
	uint32_t stack;		/* its number, 0 = none */
	int64_t  flags;		/* as decoded at entry */
	int64_t  mode;
	struct ftr_strbuf path[2];	/* as the program gave them */
	struct ftr_strbuf real[3];	/* resolved; "" = could not be */
};

/*
 * Read up to @len bytes of the tracee's memory.  Returns how many, or -errno when not one: -EACCES
 * when the process is not dumpable and we are not root.
 */
ssize_t ftr_tracee_read(const struct ftr_tracee *tracee, uint64_t addr, void *buf, size_t len);
ssize_t ftr_tracee_write(const struct ftr_tracee *tracee, uint64_t addr, const void *buf,
			 size_t len);

/*
 * A NUL-terminated string of at most @max bytes, NUL excluded.  0, -EFAULT, -EACCES as
 * above, or -ENAMETOOLONG.
 */
int ftr_tracee_read_string(const struct ftr_tracee *tracee, uint64_t addr, size_t max,
			   struct ftr_strbuf *text);

/* A file of /proc/TID/ whole ("cmdline"), at most @max bytes.  0 or -errno. */
int ftr_tracee_read_file(const struct ftr_tracee *tracee, const char *name, size_t max,
			 struct ftr_strbuf *text);

/* Append where a symbolic link of /proc/TID/ ("cwd", "fd/3") leads to.  0 or -errno. */
int ftr_tracee_link(const struct ftr_tracee *tracee, const char *name, struct ftr_strbuf *text);
int ftr_tracee_fd_path(const struct ftr_tracee *tracee, int64_t fd, struct ftr_strbuf *text);

/* The process is about to become not dumpable: keep its memory open. */
void ftr_tracee_memory_keep(struct ftr_tracee *tracee);
void ftr_tracee_memory_forget(struct ftr_tracee_process *process);

/* Is the descriptor open?  -EACCES: the process is not dumpable, and we are not root. */
int ftr_tracee_has_fd(const struct ftr_tracee *tracee, int64_t fd);

/*
 * The absolute path of @path relative to @dirfd (or AT_FDCWD), as the tracee sees it.  Directories
 * are resolved; the last component only when @follow.  0, or -errno when there is no such file
 * (@must_exist) or directory; @text is then "".
 */
int ftr_tracee_resolve(const struct ftr_tracee *tracee, int64_t dirfd, const char *path,
		       bool follow, bool must_exist, struct ftr_strbuf *text);

/*
 * @path as asked for: absolute as it is, else behind the directory, joined by a slash.  0, or
 * -errno when the directory has no name that the kernel tells (4096 bytes and more, a wrong
 * descriptor): @text is then @path.
 */
int ftr_tracee_join(const struct ftr_tracee *tracee, int64_t dirfd, const char *path,
		    struct ftr_strbuf *text);

/* Open a file the tracee could name, for reading.  A descriptor or -errno. */
int ftr_tracee_open(const struct ftr_tracee *tracee, const char *path);

/* The processor it last ran on. */
unsigned ftr_tracee_cpu(struct ftr_tracee *tracee);

/* @fd is now open on the comm file of @tid, or (0) on something else, or not at all. */
void ftr_tracee_comm_set(struct ftr_tracee_process *process, int64_t fd, pid_t tid);
/* The task whose comm file @fd is open on; 0 = none. */
pid_t ftr_tracee_comm_tid(const struct ftr_tracee_process *process, int64_t fd);

/*
 * The end of the chain of #! lines that begins at @program (absolute), resolved but for its last
 * component; @program itself when it is no script.
 */
void ftr_tracee_interpreter(const struct ftr_tracee *tracee, const struct ftr_strbuf *program,
			    struct ftr_strbuf *interpreter);

/* Arguments at @addr, of an exec that failed, each with its NUL; of many or long ones the first. */
void ftr_tracee_read_argv(const struct ftr_tracee *tracee, uint64_t addr, struct ftr_strbuf *args);

#endif /* FTR_OBSERVE_TRACEE_H */
